const on: ReadonlySet<string> = new Set(['true', 'on', 'enabled', 'enable', '1']);
const off: ReadonlySet<string> = new Set(['false', 'off', 'disabled', 'disable', '0']);

/** What an on/off word says, in any case; null when the text is none. */
export function switchValue(text: string): boolean | null {
  const word = text.trim().toLowerCase();
  if (on.has(word)) return true;
  return off.has(word) ? false : null;
}
