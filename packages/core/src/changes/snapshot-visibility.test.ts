import { expect, test } from 'vitest';
import { isVisible, parseSnapshot } from './snapshot-visibility.ts';

test('transactions before the oldest active one are visible', () => {
  const snapshot = parseSnapshot('795:799:795,797');

  expect([794, 795, 796, 797, 798, 799, 800].filter((xid) => isVisible(xid, snapshot))).toEqual([794, 796, 798]);
});

test('a snapshot without active transactions shows all before its end', () => {
  const snapshot = parseSnapshot('10:10:');

  expect([9, 10].filter((xid) => isVisible(xid, snapshot))).toEqual([9]);
});

test('transaction ids of the log have no epoch', () => {
  // 3 and 5 transactions after the second overflow.
  const snapshot = parseSnapshot(`${2 * 2 ** 32 + 3}:${2 * 2 ** 32 + 5}:${2 * 2 ** 32 + 3}`);

  expect([2 ** 32 - 1, 2, 3, 4, 5, 6].filter((xid) => isVisible(xid, snapshot))).toEqual([2 ** 32 - 1, 2, 4]);
});

test('a transaction that began after an overflow is not visible before it', () => {
  const snapshot = parseSnapshot(`${2 ** 32 - 2}:${2 ** 32 - 1}:${2 ** 32 - 2}`);

  expect([2 ** 32 - 3, 2 ** 32 - 2, 2 ** 32 - 1, 3].filter((xid) => isVisible(xid, snapshot))).toEqual([2 ** 32 - 3]);
});
