import { serverVersion } from '@pgway/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { changesAsText, openSession, openTestReader, type TestReader, useLogicalServer } from './support.ts';

const server = useLogicalServer();

beforeAll(async () => {
  await server.query('create publication pgway_changes for all tables');
});

/** Runs SQL that prepares, then SQL whose transactions the reader delivers. */
async function read(
  before: string,
  sql: string | readonly string[],
  options: Parameters<typeof openTestReader>[1] = {},
): Promise<TestReader> {
  await server.query(before);
  const reader = await openTestReader(server, options);
  for (const statements of [sql].flat()) await server.query(statements);
  await reader.caughtUp();
  return reader;
}

describe('the keys of committed transactions', () => {
  test('a transaction has its changes in order, with the keys alone', async () => {
    const { transactions } = await read(
      `create table film (id integer primary key, title text, rating numeric);
       create table actor (first text, last text, born date, primary key (last, first));`,
      `begin;
       insert into film values (1, 'One', 1.5), (2, 'Two', 2.5);
       update film set title = 'First' where id = 1;
       update film set id = 3 where id = 2;
       delete from film where id = 1;
       insert into actor values ('Ann', 'Lee', '1970-01-31');
       commit;`,
    );
    expect(transactions).toEqual([
      {
        xid: expect.any(Number),
        commitLsn: expect.any(BigInt),
        commitTime: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        changes: expect.any(Array),
        tooMany: false,
        relations: [
          { id: expect.any(Number), schema: 'public', name: 'film', keyColumns: ['id'] },
          { id: expect.any(Number), schema: 'public', name: 'actor', keyColumns: ['first', 'last'] },
        ],
        truncated: [],
        redefined: [],
      },
    ]);
    expect(changesAsText(transactions[0]!)).toEqual([
      'insert film ["1"]',
      'insert film ["2"]',
      'update film ["1"]',
      'update film ["3"] was ["2"]',
      'delete film ["1"]',
      'insert actor ["Ann","Lee"]',
    ]);
  });

  test('the transaction has the number and the time that PostgreSQL reports', async () => {
    await server.query('create table numbered (id bigint primary key)');
    const { transactions, caughtUp } = await openTestReader(server);
    const session = await openSession(server);
    const { rows } = await session.query<{ xid: string }>(
      'insert into numbered values (1) returning pg_current_xact_id()::xid as xid',
    );
    await caughtUp();
    expect(transactions.map(({ xid }) => String(xid))).toEqual([rows[0]!.xid]);
    const age = Date.now() - Date.parse(transactions[0]!.commitTime);
    expect(Math.abs(age)).toBeLessThan(24 * 3_600_000);
  });

  test('transactions arrive in the order of their commits, and without what was rolled back', async () => {
    await server.query('create table ordered (id integer primary key)');
    const { transactions, caughtUp } = await openTestReader(server);
    const [first, second] = [await openSession(server), await openSession(server)];
    await first.query(
      'begin; insert into ordered values (1); savepoint s; insert into ordered values (2); rollback to s',
    );
    await second.query('begin; insert into ordered values (3)');
    await server.query('begin; insert into ordered values (4); rollback');
    await second.query('commit');
    await first.query('insert into ordered values (5); commit');
    await caughtUp();
    expect(transactions.map(changesAsText)).toEqual([
      ['insert ordered ["3"]'],
      ['insert ordered ["1"]', 'insert ordered ["5"]'],
    ]);
  });

  test('a prepared transaction arrives when it is committed', async () => {
    await server.query('create table promised (id integer primary key)');
    const { transactions, caughtUp } = await openTestReader(server);
    await server.query(`begin; insert into promised values (1); prepare transaction 'one'`);
    await server.query(`begin; insert into promised values (2); prepare transaction 'two'`);
    await caughtUp();
    expect(transactions).toEqual([]);
    await server.query(`rollback prepared 'two'`);
    await server.query(`commit prepared 'one'`);
    await caughtUp();
    expect(transactions.map(changesAsText)).toEqual([['insert promised ["1"]']]);
  });

  test('values of keys are texts that any session reads', async () => {
    const { transactions } = await read(
      `create table typed (a text, b timestamptz, c bytea, d interval, e numeric, f uuid, g float8, h date, i regclass,
         primary key (a, b, c, d, e, f, g, h, i));
       alter role postgres set datestyle = 'SQL, DMY'; alter role postgres set timezone = 'Asia/Kolkata';
       alter role postgres set bytea_output = 'escape'; alter role postgres set intervalstyle = 'sql_standard';`,
      `insert into typed values ('Žluťoučký '' " \\ 🎬', '2026-02-03 04:05:06.789+00', '\\x00ff', '1 day 2 hours', 1.50,
         '00000000-0000-0000-0000-000000000001', 0.1, '03.02.2026', 'typed');
       alter role postgres reset all;`,
    );
    expect(transactions[0]!.changes[0]!.key).toEqual([
      `Žluťoučký ' " \\ 🎬`,
      '2026-02-03 04:05:06.789+00',
      '\\x00ff',
      '1 day 02:00:00',
      '1.50',
      '00000000-0000-0000-0000-000000000001',
      '0.1',
      '2026-02-03',
      'public.typed',
    ]);
  });

  test('a long key that an update leaves as it is arrives whole', async () => {
    const { transactions } = await read(
      `create table toasted (id text, n integer, primary key (id));
       alter table toasted alter column id set storage external;`,
      `insert into toasted values (repeat('x', 2500), 1);
       update toasted set n = 2;`,
    );
    const key = 'x'.repeat(2500);
    expect(transactions.flatMap(({ changes }) => changes)).toMatchObject([
      { operation: 'insert', key: [key] },
      { operation: 'update', key: [key] },
    ]);
    expect(transactions[0]!.changes.at(-1)).not.toHaveProperty('oldKey');
  });

  test('messages and origins are ignored', async () => {
    const { transactions, failures } = await read(
      `create table replicated (id integer primary key, mood text);
       select pg_replication_origin_create('elsewhere');`,
      `select pg_replication_origin_session_setup('elsewhere');
       begin;
       select pg_replication_origin_xact_setup('0/10', now());
       select pg_logical_emit_message(true, 'pgway', 'hello');
       insert into replicated values (1, 'good');
       commit;
       select pg_replication_origin_session_reset();`,
    );
    expect(failures).toEqual([]);
    expect(transactions.map(changesAsText)).toEqual([['insert replicated ["1"]']]);
  });
});

describe('the replica identity', () => {
  test('of an index has its columns', async () => {
    const { transactions } = await read(
      `create table routed (id integer primary key, note text, tenant integer not null);
       create unique index routed_identity on routed (id, tenant);
       alter table routed replica identity using index routed_identity;`,
      `begin;
       insert into routed values (1, 'one', 7), (2, 'two', 7);
       update routed set tenant = 8 where id = 1;
       update routed set note = 'three' where id = 2;
       delete from routed where id = 2;
       commit;`,
    );
    expect(transactions.map(changesAsText)).toEqual([
      [
        'insert routed ["1","7"]',
        'insert routed ["2","7"]',
        'update routed ["1","8"] was ["1","7"]',
        'update routed ["2","7"]',
        'delete routed ["2","7"]',
      ],
    ]);
  });

  const full = `drop table if exists complete;
    create table complete (id integer primary key, note text, secret text);
    alter table complete replica identity full;`;
  const changes = `begin;
    insert into complete values (1, null, 'x');
    update complete set note = 'new' where id = 1;
    update complete set id = 2, secret = 'y';
    delete from complete;
    commit;`;

  test('FULL has all columns', async () => {
    const { transactions } = await read(full, changes);
    expect(transactions.map(changesAsText)).toEqual([
      [
        'insert complete ["1",null,"x"]',
        'update complete ["1","new","x"] was ["1",null,"x"]',
        'update complete ["2","new","y"] was ["1","new","x"]',
        'delete complete ["2","new","y"]',
      ],
    ]);
  });

  test('FULL has the columns of the key that the reader was told', async () => {
    const keys = [{ schema: 'public', name: 'complete', columns: ['id'] }];
    const { transactions } = await read(full, changes, { keys });
    expect(transactions.map(changesAsText)).toEqual([
      ['insert complete ["1"]', 'update complete ["1"]', 'update complete ["2"] was ["1"]', 'delete complete ["2"]'],
    ]);
    expect(transactions[0]!.relations[0]!.keyColumns).toEqual(['id']);
  });

  test('of a partitioned table is that of the root, if the publication says so', async () => {
    const { transactions } = await read(
      `create table part (id integer, region text, primary key (id, region)) partition by list (region);
       create table part_a partition of part for values in ('a');
       create table part_b partition of part for values in ('b');
       create publication roots for table part with (publish_via_partition_root = true);`,
      `insert into part values (1, 'a');
       update part set region = 'b';`,
      { publication: 'roots' },
    );
    expect(transactions.flatMap(changesAsText)).toEqual([
      'insert part ["1","a"]',
      'delete part ["1","a"]',
      'insert part ["1","b"]',
    ]);
  });

  test.skipIf(serverVersion() < 15)('columns that are not published do not arrive', async () => {
    const { transactions } = await read(
      `create table narrow (secret text, id integer primary key);
       create publication narrow_keys for table narrow (id);`,
      `insert into narrow values ('x', 1);
       update narrow set secret = 'y';
       delete from narrow;`,
      { publication: 'narrow_keys' },
    );
    expect(transactions.flatMap(changesAsText)).toEqual([
      'insert narrow ["1"]',
      'update narrow ["1"]',
      'delete narrow ["1"]',
    ]);
  });
});

describe('tables that change as a whole', () => {
  test('truncated tables are named', async () => {
    const { transactions } = await read(
      `create table parent (id integer primary key);
       create table child (id integer primary key, parent integer references parent);
       insert into parent values (1);`,
      [
        'begin; truncate parent cascade; insert into parent values (2); commit',
        'begin; savepoint s; truncate child; rollback to s; insert into child values (1, 2); commit',
      ],
    );
    expect(transactions.map((transaction) => transaction.truncated.map(({ name }) => name))).toEqual([
      ['parent', 'child'],
      [],
    ]);
    expect(transactions.map(changesAsText)).toEqual([['insert parent ["2"]'], ['insert child ["1"]']]);
  });

  test('a table whose definition has changed is named once', async () => {
    const { transactions } = await read('create table evolving (id integer primary key)', [
      'insert into evolving values (1)',
      'begin; alter table evolving add column note text; rollback',
      'insert into evolving values (2)',
      'alter table evolving add column note text',
      'insert into evolving values (3)',
      'insert into evolving values (4)',
      'begin; alter table evolving alter column id type bigint; insert into evolving values (5); commit',
      'analyze evolving',
      'insert into evolving values (6)',
      'begin; alter table evolving rename to evolved; insert into evolved values (7); commit',
    ]);
    expect(transactions.map(({ redefined }) => redefined.map(({ name }) => name))).toEqual([
      [],
      [],
      ['evolving'],
      [],
      ['evolving'],
      [],
      ['evolved'],
    ]);
  });
});

describe('a transaction with many keys', () => {
  test('has none of them, and its relations', async () => {
    const { transactions } = await read(
      'create table bulk (id integer primary key)',
      [
        'insert into bulk select generate_series(1, 10)',
        'insert into bulk select generate_series(11, 21)',
        'insert into bulk values (22)',
      ],
      { maxKeys: 10 },
    );
    expect(
      transactions.map(({ tooMany, changes, relations }) => [tooMany, changes.length, relations[0]!.name]),
    ).toEqual([
      [false, 10, 'bulk'],
      [true, 0, 'bulk'],
      [false, 1, 'bulk'],
    ]);
  });

  test('counts long keys by their size', async () => {
    const { transactions } = await read(
      'create table lengthy (id text primary key)',
      `insert into lengthy select repeat('x', 2000) || n from generate_series(1, 5) n;`,
      { maxKeys: 10 },
    );
    expect(transactions).toMatchObject([{ tooMany: true, changes: [] }]);
  });
});
