import { expect, test } from 'vitest';
import { decodeText, encodeText } from './opaque-text.ts';

const codes = Array.from({ length: 0x1_00_00 - 1 }, (_, index) => index + 1);
const everyCodeUnit = String.fromCharCode(...codes.slice(0, 0x80_00)) + String.fromCharCode(...codes.slice(0x80_00));

test.each([
  ['no text', ''],
  ['plain text', 'Dune'],
  ['escapes and entities', '_x0041_ &amp; _X0041_ a_b &'],
  ['private-use characters beside others', '\uE000\uE026&\uE000&\uE000\uE000_x\uE0FF\uE100'],
  ['every code unit but NUL', everyCodeUnit],
])('%s is the same after encoding and decoding', (_, text) => {
  expect(decodeText(encodeText(text))).toBe(text);
});

test('parts of a text that are an escape together are none after encoding', () => {
  const parts = ['a_', 'x0041_', 'b_', 'X0042', '_'].map(encodeText);
  expect(parts.join('')).not.toMatch(/_x/i);
  expect(parts.map(decodeText)).toEqual(['a_', 'x0041_', 'b_', 'X0042', '_']);
  expect(encodeText('a_b')).toBe('a_b');
});

test('an encoded text has no entity, escape or control character', () => {
  expect(encodeText(`_x0041_${everyCodeUnit}`)).not.toMatch(/[&_\p{Cc}]/u);
});
