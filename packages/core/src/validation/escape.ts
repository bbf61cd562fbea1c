// Control characters, bidirectional formatting, characters without width, line separators.
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Replaces control characters by `\u001b`, so that names, comments and messages cannot send escape sequences to the terminal. */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
