/** Added to the code of an encoded character: private-use characters stand for those up to 255. */
const offset = 0xe000;
const lastCode = offset + 0xff;
/** Code units that become a text at once. */
const pieceLength = 8192;

/**
 * Writes a text so that it has no entity, escape or control character. Versions of the reader differ in which of them they decode, and how
 * often. A character becomes one character, or two if it is a private-use one. The text must not have NUL. It may be a part of one: `_` at its end
 * can be the beginning of an escape.
 */
export function encodeText(text: string): string {
  if (!/[&\uE000-\uE0FF\p{Cc}]|_(?:[xX]|$)/u.test(text)) return text;
  const codes = new Uint16Array(2 * text.length);
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isPrivate(code)) codes[length++] = offset;
    codes[length++] = isOpaque(code) ? offset + code : code;
  }
  return toText(codes.subarray(0, length));
}

/** Returns the text that was encoded. */
export function decodeText(encoded: string): string {
  if (!/[\uE000-\uE0FF]/.test(encoded)) return encoded;
  const codes = new Uint16Array(encoded.length);
  let length = 0;
  for (let index = 0; index < encoded.length; index++) {
    const code = encoded.charCodeAt(index);
    // The offset itself stands before a private-use character of the text.
    if (code === offset) codes[length++] = encoded.charCodeAt(++index);
    else codes[length++] = isPrivate(code) ? code - offset : code;
  }
  return toText(codes.subarray(0, length));
}

function isPrivate(code: number): boolean {
  return code >= offset && code <= lastCode;
}

/** Whether a code is that of `&`, `_` or a control character. */
function isOpaque(code: number): boolean {
  return code === 0x26 || code === 0x5f || code < 0x20 || (code >= 0x7f && code < 0xa0);
}

function toText(codes: Uint16Array): string {
  let text = '';
  for (let start = 0; start < codes.length; start += pieceLength)
    text += String.fromCharCode(...codes.subarray(start, start + pieceLength));
  return text;
}
