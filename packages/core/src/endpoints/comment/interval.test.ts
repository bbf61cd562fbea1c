import { expect, test } from 'vitest';
import { parseInterval } from './interval.ts';

test.each([
  ['30', 30_000],
  ['0', 0],
  ['1.5', 1_500],
  ['10s', 10_000],
  ['5 min', 300_000],
  ['3H', 10_800_000],
  ['2 days', 172_800_000],
  ['1h 30m', 5_400_000],
  ['250ms', 250],
  ['', null],
  ['soon', null],
  ['-5', null],
  ['5 parsecs', null],
  ['10 constructor', null],
  ['25 days', null],
])('%j is %j', (text, milliseconds) => {
  expect(parseInterval(text)).toBe(milliseconds);
});
