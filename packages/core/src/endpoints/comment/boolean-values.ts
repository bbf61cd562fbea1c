import { display } from '../diagnostic.ts';
import type { EndpointBuilder, Overrides } from '../endpoint-builder.ts';
import type { AnnotationError, Annotation, ParsedAnnotation } from './annotation.ts';

const on: ReadonlySet<string> = new Set(['true', 'on', 'enabled', 'enable', '1']);
const off: ReadonlySet<string> = new Set(['false', 'off', 'disabled', 'disable', '0']);

/** What an on/off word says, in any case; null when the text is none. */
export function parseBoolean(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  if (on.has(word)) return true;
  return off.has(word) ? false : null;
}

/** The settings that are on, off, or left as they are. */
type BooleanOverride = { [K in keyof Overrides]: Overrides[K] extends boolean | null ? K : never }[keyof Overrides];

/**
 * The effect of a word that stands alone or takes an on/off word. Anything else is most likely prose ("Raw data of …") or
 * belongs on another line, and changes nothing.
 */
export function applyBoolean(key: BooleanOverride): Annotation['apply'] {
  return (use: ParsedAnnotation, draft: EndpointBuilder): AnnotationError | null => {
    const value = use.text === '' ? true : parseBoolean(use.text);
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
