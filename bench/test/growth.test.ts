import { expect, test } from 'vitest';

import { logLogSlope } from '../src/growth/slope.ts';

test.each([
  ['a constant cost', (): number => 40, 0],
  ['a cost that is proportional', (size: number): number => 3 * size, 1],
  ['the square root', (size: number): number => Math.sqrt(size), 0.5],
])('the slope of %s', (_, cost, expected) => {
  expect(logLogSlope([10, 100, 1_000, 10_000].map((size) => [size, cost(size)]))).toBeCloseTo(expected, 10);
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
