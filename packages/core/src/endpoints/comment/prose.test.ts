import { expect, test } from 'vitest';
import { looksLikeProse } from './prose.ts';

test.each([
  ['Returns books.', true],
  ['Is it ü?', true],
  ['separator ;', false],
  ['separator ...', false],
  ['authorize admin', false],
  ['authorize.', false],
  ['authorize the admins', true],
])('%j looks like prose: %s', (line, prose) => {
  expect(looksLikeProse(line.split(' '))).toBe(prose);
});

test.each(['a', '.', '-'])('a line of a million times %j is looked at in no time', (character) => {
  // A quadratic search would take minutes.
  expect(looksLikeProse(['authorize', `${character.repeat(1_000_000)}_`])).toBe(false);
});
