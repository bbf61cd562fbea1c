/** A private-use character before the code of a character in four hexadecimal digits. */
const mark = '\uE000';

/**
 * Writes a text so that it has no entity, escape or control character. Versions of the reader differ in which of them they decode, and how
 * often.
 */
export function encodeText(text: string): string {
  return text.replace(
    /[&_\uE000\p{Cc}]/gu,
    (character) => `${mark}${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns the text that was encoded. */
export function decodeText(encoded: string): string {
  if (!encoded.includes(mark)) return encoded;
  return encoded.replace(/\uE000([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
