import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Problem } from '../http/problem.ts';
import { ChangeGroup, GroupMember } from './change-group.ts';
import type { Cut } from './cut.ts';
import { GroupJoins, type JoinOptions } from './group-joins.ts';
import type { LookupContext } from './group-lookup.ts';
import { Limiter } from './limiter.ts';
import type { ReplayLog } from './replay-log.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('a subscriber waits for a place to read its first rows for twenty seconds', async () => {
  const limiter = new Limiter(1);
  await limiter.enter();
  const wake = vi.fn<() => void>();
  const joins = new GroupJoins({} as LookupContext, { limiter, slowLimiter: limiter, wake } as unknown as JoinOptions);
  const request = {
    query: { relation: { schema: 'public', name: 'film' }, keyColumns: ['id'], sql: '', values: [], columns: [] },
    identity: { role: undefined, settings: [], key: 'ada' },
    gapOn: [],
    snapshot: { sql: 'select 1', values: [] },
    lastEventId: null,
  } as unknown as ConstructorParameters<typeof ChangeGroup>[1];
  const group = new ChangeGroup('', request, { log: {} as ReplayLog, server: '00000000' });
  const joined = joins.add(
    group,
    new GroupMember({ message: () => undefined, ended: () => undefined }, request),
    false,
  );
  const refused = joined.then(
    () => 'joined',
    ({ status, detail }: Problem) => `${status} ${detail}`,
  );
  const cut = async (): Promise<void> => {
    const completed = joins.complete(joins.begin(), {} as Cut);
    await vi.advanceTimersByTimeAsync(50);
    await completed;
  };

  await cut();
  expect([wake.mock.calls.length, joins.has(group)]).toEqual([1, true]);
  vi.advanceTimersByTime(20_000);
  await cut();
  expect(await refused).toBe(
    '503 Too many subscribers wait for the rows of their snapshots; try again later, or subscribe without a snapshot.',
  );
  expect([wake.mock.calls.length, joins.has(group)]).toEqual([1, false]);
});
