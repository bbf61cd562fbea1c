import { expect, test } from 'vitest';
import { selectExpired } from './empty-groups.ts';
import { ChangeGroup } from './change-group.ts';
import { ReplayLog } from './replay-log.ts';

const log = new ReplayLog({ ageMs: 60_000, bytes: 1_000 });

function emptyGroup(name: string, identity: string, emptySince: number): ChangeGroup {
  const query = { relation: { schema: 'public', name: 'film' }, keyColumns: ['id'], sql: name, values: [], keys: [] };
  const request = {
    query: { ...query, columns: [], altersTransaction: false, altersSession: false },
    identity: { role: null, settings: [], key: identity },
    operations: [],
    withOld: false,
    withUnchanged: false,
    route: null,
    gapOn: [],
    snapshot: null,
    lastEventId: null,
  };
  const group = new ChangeGroup(name, request, { log, server: '00000000' });
  group.emptySince = emptySince;
  return group;
}

test('a client with many subscriptions loses its own oldest ones, and those of others are kept', () => {
  const groups = [
    emptyGroup('late', 'ada', 1),
    emptyGroup('own', 'ada', 20),
    ...['a', 'b', 'c', 'd'].map((name) => emptyGroup(name, 'eve', 20)),
  ];
  const expired = (maxGroups: number): readonly string[] =>
    selectExpired(groups, { maxGroups, oldest: 10 }).map(({ key }) => key);

  expect(expired(5)).toEqual(['late']);
  expect(expired(3)).toEqual(['late', 'a', 'b']);
});
