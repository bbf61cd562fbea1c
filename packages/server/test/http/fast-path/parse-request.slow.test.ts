import { expect, test } from 'vitest';
import { fuzz } from './differential.ts';

const { PGWAY_TEST_CASES = '300000', PGWAY_TEST_SEED = String(Date.now() % 1_000_000_000) } = process.env;

test(
  'random requests: what the parser of the fast path accepts, node:http reads in the same way',
  () => {
    expect(fuzz(Number(PGWAY_TEST_SEED), Number(PGWAY_TEST_CASES))).toBeGreaterThan(0.3);
  },
  24 * 3_600_000,
);
