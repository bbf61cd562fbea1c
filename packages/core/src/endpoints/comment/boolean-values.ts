import { display } from '../diagnostic.ts';
import type { Draft, Settings } from '../endpoint-builder.ts';
import type { Complaint, Word, WordUse } from './annotation.ts';

const on: ReadonlySet<string> = new Set(['true', 'on', 'enabled', 'enable', '1']);
const off: ReadonlySet<string> = new Set(['false', 'off', 'disabled', 'disable', '0']);

/** What an on/off word says, in any case; null when the text is none. */
export function switchValue(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  if (on.has(word)) return true;
  return off.has(word) ? false : null;
}

/** The settings that are on, off, or left as they are. */
type SwitchKey = { [K in keyof Settings]: Settings[K] extends boolean | null ? K : never }[keyof Settings];

/**
 * The effect of a word that stands alone or takes an on/off word. Anything else is most likely prose ("Raw data of …") or
 * belongs on another line, and changes nothing.
 */
export function switchOf(key: SwitchKey): Word['apply'] {
  return (use: WordUse, draft: Draft): Complaint | null => {
    const value = use.text === '' ? true : switchValue(use.text);
    if (value !== null) {
      draft.set(use, key, value);
      return null;
    }
    return {
      code: 'extra-arguments',
      message: `${use.name} stands alone or takes on or off, so ${display(use.text)} makes the line mean nothing`,
      leftover: use.words,
    };
  };
}
