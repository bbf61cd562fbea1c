/** Streams while PostgreSQL crashes, and while another server takes over. The reason of a gap depends on the moment of the crash. */
import { crudSource, type GatewayOptions } from '@pgway/core';
import { type PrimaryServer, startPrimary, startGateway, type TestGateway } from '@pgway/testing';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ChangeGroup } from '../../src/changes/change-group.ts';
import { Cut } from '../../src/changes/cut.ts';
import { GroupDefinitions } from '../../src/changes/group-definitions.ts';
import { ReplayLog } from '../../src/changes/replay-log.ts';
import { WatchedTables } from '../../src/changes/watched-table.ts';
import type { Database } from '../../src/postgres/port.ts';
import { type Relay, startRelay } from '../replicas/support.ts';
import {
  asLines,
  column,
  openDatabase,
  publication,
  queryOf,
  requestOf,
  startEngine,
  subscribe,
} from './engine-support.ts';
import { followChanges, openStream, type ServerSentEvent } from './stream-support.ts';

const schema = `
  create table item (id integer primary key, number integer not null);
  comment on table item is 'HTTP
changes';
  insert into item select n, n from generate_series(1, 50) as n;
  create publication pgway_changes for table item;
`;

const options: Partial<GatewayOptions> = {
  routineSources: [crudSource({ listing: true })],
  changes: { window: 0 },
  events: { heartbeat: 1 },
};

let primary: PrimaryServer;
let relay: Relay;
let gateway: TestGateway;

beforeEach(async () => {
  primary = await startPrimary({ wal_level: 'logical', synchronous_commit: 'on' });
  await primary.query(schema);
  relay = await startRelay(primary.connectionString);
  gateway = await startGateway('', { ...options, connectionString: relay.through(primary.connectionString) });
  return async () => {
    await gateway.close();
    await primary.stop();
  };
});

interface Load {
  /** Commits so far. */
  readonly count: () => number;
  stop(): Promise<void>;
}

/** Writes through the relay, and connects again after each loss. */
function startLoad(): Load {
  let [count, isDone] = [0, false];
  const run = async (): Promise<void> => {
    const client = new Client({ connectionString: relay.through(primary.connectionString) });
    client.on('error', () => undefined);
    try {
      await client.connect();
      while (!isDone) {
        const id = 1 + (count % 80);
        await client.query(
          count % 3 === 0
            ? `delete from item where id = ${id}`
            : `insert into item values (${id}, ${count}) on conflict (id) do update set number = excluded.number`,
        );
        count++;
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const running = (async () => {
    while (!isDone) await run();
  })();
  const stop = async (): Promise<void> => {
    isDone = true;
    await running;
  };
  onTestFinished(stop);
  return { count: () => count, stop };
}

/** Waits until the load has committed on the server of now. */
async function untilWritten(load: Load): Promise<void> {
  const before = load.count();
  await expect.poll(load.count).toBeGreaterThan(before + 50);
}

async function rowsOf(filter: string): Promise<unknown> {
  const { status, body } = await gateway.send(`GET /api/item?order=id${filter}`);
  return status === 200 ? (JSON.parse(body) as unknown[]).map((row) => JSON.stringify(row)) : status;
}

const filters = ['', '&number=lt.1000', '&id=gt.40'];

type Followers = readonly {
  readonly filter: string;
  readonly rows: () => readonly string[];
  readonly gaps: readonly string[];
}[];

async function followAll(): Promise<Followers> {
  const followers = filters.map((filter) => {
    const follower = followChanges(gateway, `/api/item/changes?snapshot=true${filter}`);
    onTestFinished(() => follower.close());
    return { filter, rows: () => follower.rows(), gaps: follower.gaps };
  });
  for (const { filter, rows } of followers) await expect.poll(rows).toEqual(await rowsOf(filter));
  return followers;
}

/** Nothing writes any more: each subscriber has what its own SELECT returns. */
async function expectOwnRows(followers: Followers): Promise<void> {
  for (const { filter, rows } of followers) {
    const differences = async (): Promise<unknown> => {
      const own = await rowsOf(filter);
      return JSON.stringify(own) === JSON.stringify(rows()) ? null : { own, rows: rows() };
    };
    await expect.poll(differences).toBeNull();
  }
}

describe('under load', () => {
  test('PostgreSQL is killed and recovers: subscribers get a gap, and the rows of their own SELECT', async () => {
    const followers = await followAll();
    const load = startLoad();
    for (let crash = 1; crash <= 2; crash++) {
      await untilWritten(load);
      await primary.kill();
      await primary.restart();
      relay.lead(primary.connectionString);
      await untilWritten(load);
      for (const { gaps } of followers) await expect.poll(() => gaps.length).toBeGreaterThanOrEqual(crash);
    }
    await load.stop();
    await expectOwnRows(followers);
    // The slot of the last reader is the only one.
    expect(await primary.query('select temporary, active from pg_replication_slots')).toEqual([
      { temporary: true, active: true },
    ]);
  });

  test('a standby is promoted: subscribers get a gap, and the rows and changes of the new primary', async () => {
    const standby = await primary.startReplica();
    const followers = await followAll();
    const load = startLoad();
    await untilWritten(load);
    await primary.kill();
    await standby.query('select pg_promote()');
    relay.lead(standby.connectionString);
    await untilWritten(load);
    await load.stop();
    await expectOwnRows(followers);
    for (const { gaps } of followers) expect(gaps).not.toEqual([]);
    await standby.query('insert into item values (1000, 1000)');
    await expect.poll(() => followers[0]!.rows().at(-1)).toBe('{"id":1000,"number":1000}');
  });
});

/** The kinds of events, with the reasons of gaps. */
function kinds(events: readonly ServerSentEvent[]): readonly string[] {
  return events.map(({ event, data }) =>
    event === 'gap' ? `gap ${(JSON.parse(data!) as { readonly reason: string }).reason}` : `${event}`,
  );
}

test('a stream without a snapshot stays open, and has the gap before the changes of the new primary', async () => {
  const standby = await primary.startReplica();
  const stream = await openStream(gateway, '/api/item/changes');
  await expect.poll(() => stream.lastId()).toBeDefined();
  await primary.query('insert into item values (100, 1)');
  await expect.poll(() => kinds(stream.events())).toEqual(['insert']);
  await expect.poll(() => standby.query('select from item where id = 100')).toHaveLength(1);

  await primary.kill();
  await standby.query('select pg_promote()');
  relay.lead(standby.connectionString);
  await expect.poll(() => kinds(stream.events())).toEqual(['insert', 'gap connection-lost']);
  await standby.query('delete from item where id = 100');
  await expect.poll(() => kinds(stream.events())).toEqual(['insert', 'gap connection-lost', 'delete']);
});

test('a primary that goes on after its standby was promoted: snapshots are not of another server than the log', async () => {
  const standby = await primary.startReplica();
  const stream = await openStream(gateway, '/api/item/changes');
  await expect.poll(() => stream.lastId()).toBeDefined();
  await standby.query('select pg_promote()');
  // The log of the old primary is longer: it has reached the position of every snapshot of the new one.
  await primary.query(`select pg_logical_emit_message(false, '', repeat('x', 10000000))`);
  relay.divert(standby.connectionString);
  // The connections of calls and snapshots lead to the new primary now; the log is that of the old one.
  await primary.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  await standby.query('insert into item values (100, 1)');

  await expect.poll(() => kinds(stream.events())).toContain('gap connection-lost');
  await expect
    .poll(async () => standby.query(`select from pg_replication_slots where active and slot_type = 'logical'`))
    .toHaveLength(1);
  await standby.query('insert into item values (101, 1)');
  await expect.poll(() => kinds(stream.events()).at(-1)).toBe('insert');
  expect(stream.events().at(-1)!.data).toContain('"id":101');
});

test.each([
  {
    name: 'the log, too, is that of the former primary: it shows that there are two servers',
    gaps: ['gap connection-lost'],
    change: async (toHolders: Relay, standby: Pick<PrimaryServer, 'connectionString'>): Promise<void> => {
      toHolders.divert(standby.connectionString);
      await primary.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and application_name <> 'lookups' and pid <> pg_backend_pid()`,
      );
    },
  },
  {
    name: 'the log is that of the new primary: the former one does not know the snapshots',
    gaps: ['gap connection-lost', 'gap lookup-failed'],
    change: (toHolders: Relay, standby: Pick<PrimaryServer, 'connectionString'>): Promise<void> => {
      toHolders.lead(standby.connectionString);
      return Promise.resolve();
    },
  },
])('lookups leave a primary that goes on after its standby was promoted; $name', async ({ change, gaps }) => {
  const standby = await primary.startReplica();
  const toLookups = await startRelay(primary.connectionString);
  const lookups = openDatabase(`${toLookups.through(primary.connectionString)}?application_name=lookups`, 1);
  onTestFinished(() => lookups.close());
  const { engine } = await startEngine({ connectionString: relay.through(primary.connectionString) }, { lookups });
  const { messages } = await subscribe(engine, requestOf(queryOf('item', [column('id', 'number')])));
  await primary.query('insert into item values (100, 1)');
  await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":100}']);
  await expect.poll(() => standby.query('select from item where id = 100')).toHaveLength(1);

  await standby.query('select pg_promote()');
  toLookups.divert(standby.connectionString);
  await change(relay, standby);
  await primary.query('insert into item values (101, 1)');
  await expect.poll(() => asLines(messages)).toContain('gap connection-lost');
  await expect
    .poll(async () => {
      await standby.query('delete from item where id = 102');
      await standby.query('insert into item values (102, 1)');
      return asLines(messages).at(-1);
    })
    .toBe('insert {"id":102}');
  const lines = asLines(messages);
  expect(lines).not.toContain('insert {"id":101}');
  expect([...new Set(lines.filter((line) => line.startsWith('gap')))]).toEqual(gaps);
});

test('definitions that another server has do not confirm the rows of a snapshot', async () => {
  const standby = await primary.startReplica();
  await standby.query('select pg_promote()');
  const [former, current] = [primary, standby].map(({ connectionString }) => openDatabase(connectionString, 2));
  onTestFinished(async () => {
    await former!.close();
    await current!.close();
  });
  const tables = new WatchedTables(current!, publication);
  await tables.watch({ schema: 'public', name: 'item' });
  const group = new ChangeGroup('', requestOf(queryOf('item', [])), {
    log: new ReplayLog({ ageMs: 1_000, bytes: 1_000 }),
    server: '00000000',
  });
  const serverVersion = Number((await current!.query('show server_version_num'))[0]![0]) / 10_000;
  const definitionsOf = (holders: Database): GroupDefinitions =>
    new GroupDefinitions(tables, {
      holders,
      lookups: holders,
      publication,
      serverVersion: () => serverVersion,
      lookupTimeoutMs: 20_000,
    });
  const subjects = await definitionsOf(current!).listSubjects([group]);
  const cut = await Cut.take(current!, { serverVersion, subjects, publication, slot: '', timeout: 20_000 });
  onTestFinished(() => cut.release());

  expect(await definitionsOf(current!).areCurrent(group, cut.definitions)).toBe(true);
  expect(await definitionsOf(former!).areCurrent(group, cut.definitions)).toBe(false);
});
