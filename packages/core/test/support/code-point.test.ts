import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codePoint } from './code-point.ts';

const texts = fc.sample(fc.string({ unit: codePoint, maxLength: 12 }), { numRuns: 3000, seed: 1 });

test.each([
  ['NUL', /\0/],
  ['other controls', /[\t-\r]/],
  ['ASCII', /[a-z]/],
  ['the rest of Latin 1', /[\u0080-\u00FF]/],
  ['the last character before the surrogates', /\uD7FF/],
  ['the first one after them', /\uE000/],
  ['the last one of the basic plane', /\uFFFF/],
  ['characters of two UTF-16 code units', /[\u{10000}-\u{10FFFE}]/u],
  ['the last one of all', /\u{10FFFF}/u],
  ['names of Object.prototype', /^__proto__$/],
  ['no text', /^$/],
])('strings of any code points have %s', (_name, wanted) => {
  expect(texts.filter((text) => wanted.test(text))).not.toEqual([]);
});

test('strings of any code points have no half of a surrogate pair', () => {
  expect(texts.filter((text) => /\p{Surrogate}/u.test(text))).toEqual([]);
});
