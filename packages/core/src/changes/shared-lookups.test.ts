import { expect, test } from 'vitest';
import type { Database } from '../postgres/port.ts';
import { StatementCache } from '../postgres/statement-cache.ts';
import { ChangeGroup } from './change-group.ts';
import { createLookupPair, type LookupPair } from './group-lookup.ts';
import type { LookupCost } from './lookup-cost.ts';
import { ReplayLog } from './replay-log.ts';
import { SelectedKeys } from './selected-keys.ts';
import { shareLookups } from './shared-lookups.ts';

const query = {
  relation: { schema: 'public', name: 'film' },
  keyColumns: ['id'],
  sql: 'select',
  values: [],
  keys: [],
  columns: [],
  altersTransaction: false,
  altersSession: false,
};
const database = { run: () => expect.unreachable() } as Partial<Database> as Database;
const context = { database, statements: new StatementCache() };
const limits = { timeout: 5_000, maxBytes: 1_000 };
const changed = new SelectedKeys([{ key: ['1'], isNew: true, isGone: false } as never]);

/** Returns the pairs of groups. @param prepare sets the cost of the group with a number */
function pairsOf(
  count: number,
  prepare: (cost: LookupCost, index: number) => void = () => undefined,
): readonly LookupPair[] {
  return Array.from({ length: count }, (_, index) => {
    const group = new ChangeGroup(
      `group ${index}`,
      {
        query,
        identity: { role: undefined, settings: [], key: `${index}` },
        operations: ['insert'],
        withOld: false,
        withUnchanged: false,
        route: null,
        gapOn: [],
        snapshot: null,
        lastEventId: null,
      },
      { log: new ReplayLog({ ageMs: 0, bytes: 0 }), server: '00000000' },
    );
    prepare(group.cost, index);
    return createLookupPair(group, changed, false, { ...context, ...limits });
  });
}

/** Returns the number of groups with transactions of their own, and those of each shared transaction. */
function sizesOf(pairs: readonly LookupPair[]): readonly [single: number, shared: readonly number[]] {
  const { single, shared } = shareLookups(pairs);
  return [single.length, shared.map((bundle) => bundle.pairs.length)];
}

test('a few groups of unknown cost have transactions of their own, many share them', () => {
  expect(sizesOf(pairsOf(50))).toEqual([50, []]);
  expect(sizesOf(pairsOf(60))).toEqual([0, [15, 15, 15, 15]]);
});

test('groups that are slow never share a transaction, however many groups there are', () => {
  expect(sizesOf(pairsOf(60, (cost) => cost.measured(100)))).toEqual([60, []]);
  expect(sizesOf(pairsOf(60, (cost) => cost.timedOut()))).toEqual([60, []]);
  expect(sizesOf(pairsOf(60, (cost, index) => cost.measured(index < 5 ? 100 : 1)))).toEqual([5, [50, 5]]);
});

test('groups that have failed share no transaction for a minute', () => {
  expect(sizesOf(pairsOf(60, (cost) => cost.failed()))).toEqual([60, []]);
  const [{ group }] = pairsOf(1, (cost) => {
    cost.measured(1);
    cost.failed(1_000);
  }) as [LookupPair];
  expect([60_999, 61_000].map((now) => group.cost.mayShare(false, now))).toEqual([false, true]);
});

test('a transaction has the groups whose lookups take 150 ms together', () => {
  expect(sizesOf(pairsOf(10, (cost) => cost.measured(50)))).toEqual([1, [3, 3, 3]]);
  expect(sizesOf(pairsOf(3, (cost) => cost.measured(90)))).toEqual([3, []]);
});
