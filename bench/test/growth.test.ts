import { expect, test } from 'vitest';

import { formatSlope, logLogSlope } from '../src/growth/slope.ts';

test.each([
  ['a constant cost', (): number => 40, 0],
  ['a cost that is proportional', (size: number): number => 3 * size, 1],
  ['the square root', (size: number): number => Math.sqrt(size), 0.5],
])('the slope of %s', (_, cost, expected) => {
  expect(logLogSlope([10, 100, 1_000, 10_000].map((size) => [size, cost(size)]))).toBeCloseTo(expected, 10);
});

test('one size has no slope', () => {
  expect(logLogSlope([[10, 40]])).toBe(null);
  expect(formatSlope([[10, 40]])).toBe('-');
});

test('costs that are all 0 are constant', () => {
  expect(
    logLogSlope([
      [1, 0],
      [10, 0],
    ]),
  ).toBe(0);
});

test('a cost of 0 counts as the smallest one above it', () => {
  expect(
    logLogSlope([
      [1, 0],
      [10, 5],
      [100, 5],
    ]),
  ).toBeCloseTo(0, 10);
});
