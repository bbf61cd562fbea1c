import { useDatabase } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CallPlan, Database, Runner, Transaction } from '../../src/postgres/port.ts';
import { ask, backendOf, errorOf, named, open, rowsOf, startProxy, until } from './support.ts';

const db = useDatabase(`
  create function plan_mode() returns text language sql stable as $$ select current_setting('plan_cache_mode') $$;
`);

/** Records what a plan is told about its calls. */
class RecordedPlan implements CallPlan {
  readonly isGeneric: boolean;
  readonly events: string[] = [];

  constructor(isGeneric: boolean) {
    this.isGeneric = isGeneric;
  }

  ended(elapsedMs: number): void {
    this.events.push(elapsedMs >= 0 ? 'ended' : 'ended before it began');
  }

  running(elapsedMs: number): void {
    this.events.push(elapsedMs > 0 ? 'running' : 'not running');
  }

  failed(elapsedMs: number): void {
    this.events.push(elapsedMs > 0 ? 'failed' : 'failed before it began');
  }
}

const generic = new RecordedPlan(true);
const auto = new RecordedPlan(false);
const mode = named('select plan_mode(), pg_backend_pid()');
const divide = named('select 100 / $1::int');

async function modeOf(database: Runner, options: Parameters<typeof ask>[2] = {}): Promise<string | null> {
  return (await rowsOf(ask(database, [[mode]], options)))[0]![0]!;
}

function begin(database: Database): Promise<Transaction> {
  const none = { settings: null, restoreSettings: null, role: undefined, timeout: null };
  return database.begin({ ...none, altersSession: false });
}

test('a session has the mode of each call, also after errors, and after calls without a plan', async () => {
  const database = open(db);
  expect(await modeOf(database)).toBe('auto');
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  expect(await modeOf(database)).toBe('auto');
  // The change is not part of the transaction that fails.
  expect(await errorOf(ask(database, [[divide, '0']], { plan: generic }))).toBe('22012');
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  expect(await errorOf(ask(database, ['select nothing'], { plan: auto }))).toBe('42703');
  expect(await modeOf(database, { plan: auto })).toBe('auto');
  expect(await errorOf(ask(database, [[divide, 'x']], { plan: generic }))).toBe('22P02');
  expect(await modeOf(database)).toBe('auto');
});

test('calls that share a packet have their own modes', async () => {
  const database = open(db);
  await modeOf(database);
  const call = fc.constantFrom('auto', 'generic', 'none', 'fails', 'fails generic');
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 40 }), async (calls) => {
      const asked = calls.map((kind) => {
        const plan = kind.endsWith('generic') ? generic : auto;
        if (kind.startsWith('fails')) return errorOf(ask(database, [[divide, '0']], { mayShare: true, plan }));
        return modeOf(database, { mayShare: true, ...(kind === 'none' ? {} : { plan }) });
      });
      const expected = calls.map((kind) =>
        kind.startsWith('fails') ? '22012' : kind === 'generic' ? 'force_generic_plan' : 'auto',
      );
      expect(await Promise.all(asked)).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

test('a mode that the session has is not set again', async () => {
  const proxy = await startProxy(db.connectionString);
  const database = open(proxy.connectionString);
  const sizeOf = async (plan: CallPlan): Promise<number> => {
    const before = proxy.received;
    await modeOf(database, { plan });
    return proxy.received - before;
  };
  await sizeOf(auto);
  const [first, second, third] = [await sizeOf(generic), await sizeOf(generic), await sizeOf(generic)];
  expect(first).toBeGreaterThan(second!);
  expect(third).toBe(second);
});

test('of two idle sessions the one with the mode of a call is used', async () => {
  const database = open(db, { poolSize: 2, shareConnections: false });
  // The transaction has one of them.
  const transaction = await begin(database);
  await backendOf(database);
  await transaction.rollback();
  const used: (string | null)[] = [];
  await modeOf(database, { plan: auto });
  // Without one that has the mode, the session that was used last changes it.
  for (const plan of [generic, auto, generic, auto, generic, auto])
    used.push((await rowsOf(ask(database, [[mode]], { plan })))[0]![1]!);
  const [first, second] = used;
  expect(first).not.toBe(second);
  expect(used).toEqual([first, second, first, second, first, second]);
});

test('a transaction of several calls has the initial mode', async () => {
  const database = open(db);
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  const transaction = await begin(database);
  expect(await modeOf(transaction.commit)).toBe('auto');
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
});

test('a reset, a routine that sets the mode, and another role', async () => {
  const database = open(db);
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  const setting = ask(database, [`select set_config('plan_cache_mode', 'force_custom_plan', false)`], {
    altersSession: true,
  });
  expect(await rowsOf(setting)).toEqual([['force_custom_plan']]);
  expect(await modeOf(database)).toBe('auto');
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  await ask(database, ['select 1'], { altersSession: true }).answer;
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  // Without a role of this gateway, and with one: the session discards its plans and keeps its mode.
  for (const role of [null, undefined, null])
    expect(await modeOf(database, { plan: generic, ...(role === undefined ? {} : { role }) })).toBe(
      'force_generic_plan',
    );
});

test('a lost connection: the next one begins with auto', async () => {
  const database = open(db);
  const backend = await backendOf(database);
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
  await db.query(`select pg_terminate_backend(${backend})`);
  await until('the backend has ended', async () => {
    return (await db.query(`select from pg_stat_activity where pid = ${backend}`)).length === 0;
  });
  expect(await modeOf(database, { idempotent: true })).toBe('auto');
  expect(await modeOf(database, { plan: generic })).toBe('force_generic_plan');
});

test('a call that waits for a connection ends with the mode that its plan has when the call is sent', async () => {
  const database = open(db, { poolSize: 1, shareConnections: false });
  const ends: boolean[] = [];
  const record = (_: number, wasGeneric: boolean): void => void ends.push(wasGeneric);
  // On a busy machine, a call that still runs is reported, too.
  const plan = { isGeneric: true, ended: record, running: () => {}, failed: record };
  await modeOf(database, { plan });
  const calls = [modeOf(database, { plan }), modeOf(database, { plan })];
  const failing = errorOf(ask(database, [[divide, '0']], { plan }));
  plan.isGeneric = false;
  expect(await Promise.all(calls)).toEqual(['force_generic_plan', 'auto']);
  expect([await failing, ends]).toEqual(['22012', [true, true, false, false]]);
});

test('a plan receives the time of each call that ends, and of one that still runs or fails', async () => {
  const database = open(db);
  const plan = new RecordedPlan(true);
  await modeOf(database, { plan });
  expect(plan.events.at(-1)).toBe('ended');
  expect(await errorOf(ask(database, [[divide, '0']], { plan }))).toBe('22012');
  expect(plan.events.at(-1)).toBe('failed');
  const before = plan.events.length;
  const slow = ask(database, ['select pg_sleep(60)'], { plan });
  await until('a check of timeouts has seen it', () => plan.events.length > before);
  slow.handle.cancel();
  expect(await errorOf(slow)).toBe('CallCancelled');
  expect(new Set(plan.events.slice(before))).toEqual(new Set(['running', 'failed']));
});
