import { expect, test } from 'vitest';
import type { ChangeGroup } from './change-group.ts';
import type { Join } from './open-joins.ts';
import { SnapshotReaders, WaitingJoins } from './waiting-joins.ts';

test('subscribers without rows begin first, then those whose caller reads the fewest snapshots', () => {
  const groupOf = (caller: string): ChangeGroup => ({ request: { identity: { key: caller } } }) as ChangeGroup;
  const joinOf = (group: ChangeGroup, sql: string | null): Join =>
    ({ group, member: { snapshot: sql === null ? null : { sql, values: [] } } }) as Join;
  const [ada, bob] = [groupOf('ada'), groupOf('bob')];
  const joins = [
    joinOf(ada, 'select 1'),
    joinOf(ada, 'select 2'),
    joinOf(ada, 'select 1'),
    joinOf(bob, 'select 3'),
    joinOf(bob, null),
  ];
  const readers = new SnapshotReaders();
  const waiting = new WaitingJoins(joins, readers);
  const endReads: (() => void)[] = [];
  const begin = (): string => {
    const next = waiting.take();
    if (next === null) return 'none';
    if (next.snapshot !== null) endReads.push(readers.add(next.group));
    return `${next.group.request.identity.key} ${next.snapshot?.sql ?? 'nothing'}, ${next.joins.length}`;
  };

  expect([begin(), begin(), begin()]).toEqual(['bob nothing, 1', 'ada select 1, 2', 'bob select 3, 1']);
  const last = waiting.take()!;
  waiting.putBack(last);
  expect(waiting.all()).toEqual([joins[1]]);
  expect([begin(), begin()]).toEqual(['ada select 2, 1', 'none']);
  expect([readers.count(ada), readers.count(bob)]).toEqual([2, 1]);
  for (const end of endReads) end();
  expect([readers.count(ada), readers.count(bob)]).toEqual([0, 0]);
});
