import { serverVersion } from '@pgway/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseConnectionString } from '../../src/postgres/connection-string.ts';
import { ConnectionLost, DatabaseError } from '../../src/postgres/port.ts';
import { openChangeReader } from '../../src/postgres/replication/change-reader.ts';
import { asLines, column, openDatabase, queryOf, requestOf, startEngine, subscribe } from './engine-support.ts';
import { changesAsText, insertPosition, openSession, openTestReader, useLogicalServer } from './support.ts';

/** Bytes of a page of the log. */
const pageSize = 8192n;

const server = useLogicalServer({ max_replication_slots: '3' });

beforeAll(async () => {
  await server.query(`
    create table film (id integer primary key);
    create publication pgway_changes for table film;
  `);
});

/** The slots of the server, with the kind that a crash of the server removes. */
async function slots(): Promise<readonly unknown[]> {
  return server.query('select plugin, temporary, database from pg_replication_slots');
}

describe('the slot', () => {
  test('is temporary, and gone when the reader has closed', async () => {
    const { reader } = await openTestReader(server);
    expect(await slots()).toEqual([{ plugin: 'pgoutput', temporary: true, database: 'postgres' }]);
    await reader.close();
    expect(await slots()).toEqual([]);
    await expect(reader.reach(0n)).rejects.toThrow('the reader of changes has ended');
  });

  test('is confirmed, so that the server can remove its log', async () => {
    const { reader, caughtUp } = await openTestReader(server);
    await server.query('insert into film select generate_series(1, 1000)');
    const position = await insertPosition(server);
    await caughtUp();
    await expect
      .poll(
        async () => (await server.query(`select confirmed_flush_lsn - '0/0' as p from pg_replication_slots`))[0]!['p'],
      )
      .toSatisfy((confirmed) => BigInt(confirmed as string) >= position);
    expect(reader.position).toBeGreaterThanOrEqual(position);
    await server.query('truncate film');
  });

  test('waits for open transactions, and is abandoned at a signal', async () => {
    const session = await openSession(server);
    await session.query('begin; insert into film values (1)');
    const abort = new AbortController();
    const opening = openTestReader(server, { signal: abort.signal });
    await expect.poll(slots).toHaveLength(1);
    abort.abort(new Error('enough'));
    await expect(opening).rejects.toThrow('enough');
    expect(await slots()).toEqual([]);
    const next = openTestReader(server);
    await expect.poll(slots).toHaveLength(1);
    await session.query('commit');
    const { transactions, caughtUp } = await next;
    await server.query('insert into film values (2)');
    await caughtUp();
    expect(transactions.map(changesAsText)).toEqual([['insert film ["2"]']]);
    await server.query('truncate film');
  });
});

describe('the position', () => {
  test('is reached without published changes, and at once when it was reached before', async () => {
    const { reader } = await openTestReader(server);
    await server.query('create table other (id integer); insert into other select generate_series(1, 1000)');
    const position = await insertPosition(server);
    await Promise.all([reader.reach(position), reader.reach(position - 100n), reader.reach(position)]);
    expect(reader.position).toBeGreaterThanOrEqual(position);
    await reader.reach(position);
    await server.query('drop table other');
  });

  test('is reached when the last record ends with its page', async () => {
    const { reader } = await openTestReader(server);
    const session = await openSession(server);
    const write = async (size: number): Promise<bigint> => {
      await session.query(`select pg_logical_emit_message(false, '', repeat('x', ${size}))`);
      return insertPosition(server);
    };
    // The server may write a record of its own in between.
    for (let attempt = 0; attempt < 100; attempt++) {
      const before = await write(8);
      const after = await write(8);
      const remaining = Number(pageSize - (after % pageSize));
      const header = Number(after - before) - 8;
      const position = await write(remaining > header ? remaining - header : 8);
      if (position % pageSize !== 24n) continue;
      await reader.reach(position);
      // Otherwise the reader may have waited for a record of the server.
      if ((await insertPosition(server)) === position) return;
    }
    expect.unreachable('no record has ended with its page');
  });

  test('is not reached after the connection was lost', async () => {
    const { reader, failures } = await openTestReader(server);
    const waiting = reader.reach(2n ** 60n);
    await Promise.all([
      expect(waiting).rejects.toThrow('terminating connection due to administrator command'),
      server.query(`select pg_terminate_backend(active_pid) from pg_replication_slots`),
    ]);
    expect(failures).toEqual([expect.any(DatabaseError)]);
    await expect(reader.reach(0n)).rejects.toThrow(ConnectionLost);
    await expect.poll(slots).toEqual([]);
  });
});

describe('what prevents a reader', () => {
  const open = (url: string, publication = 'pgway_changes'): Promise<unknown> =>
    openChangeReader({
      connection: parseConnectionString(url),
      publication,
      maxKeys: 10,
      onTransaction: () => undefined,
      onFailure: () => undefined,
    });

  test('a publication that does not exist', async () => {
    await expect(open(server.connectionString, 'none"\\\'')).rejects.toThrow(
      `the publication "none"\\'" does not exist in the database; create it with "pgway install changes"`,
    );
  });

  test('a role without REPLICATION', async () => {
    await server.query(`create role plain login password 'plain'`);
    const url = new URL(server.connectionString);
    url.username = 'plain';
    url.password = 'plain';
    await expect(open(url.href)).rejects.toMatchObject({ diagnostics: { code: '42501' } });
    await server.query('alter role plain replication');
    const reader = (await openTestReader({ connectionString: url.href, query: (sql) => server.query(sql) })).reader;
    await reader.close();
  });

  test('no free slot', async () => {
    for (let slot = 0; slot < 3; slot++) await openTestReader(server);
    await expect(open(server.connectionString)).rejects.toMatchObject({ diagnostics: { code: '53400' } });
  });

  test.each(['*', 'FIRST 1 (one, "*")', 'any 2(one,*)'])('commits that would wait for it: %s', async (names) => {
    onTestFinished(() => setStandbys(''));
    await setStandbys(names);
    const before = await slots();
    await expect(open(server.connectionString)).rejects.toThrow(
      `synchronous_standby_names is '${names}', so that commits would wait for the reader of changes in place of a standby; run: alter system set`,
    );
    expect(await slots()).toEqual(before);
  });

  test('PostgreSQL counts a reader as a standby of *', async () => {
    await openTestReader(server);
    onTestFinished(() => setStandbys(''));
    await setStandbys('*');
    await expect
      .poll(() => server.query('select sync_state from pg_stat_replication'))
      .toEqual([{ sync_state: 'sync' }]);
  });

  test('no server', async () => {
    const url = new URL(server.connectionString);
    url.port = '1';
    await expect(open(url.href)).rejects.toThrow(/^no connection to 127.0.0.1:1: .*ECONNREFUSED/);
  });
});

/** Waits until new sessions have the setting. */
async function setStandbys(names: string): Promise<void> {
  await server.query(`alter system set synchronous_standby_names = ${names === '' ? 'default' : `'${names}'`}`);
  await server.query('select pg_reload_conf()');
  await expect
    .poll(() => server.query('show synchronous_standby_names'))
    .toEqual([{ synchronous_standby_names: names }]);
}

describe('a synchronous standby that is away', () => {
  test('holds back the changes of the commits that wait for it, and no others', async () => {
    const { engine } = await startEngine(server);
    const { messages } = await subscribe(engine, requestOf(queryOf('film', [column('id', 'number')])));
    onTestFinished(() => setStandbys(''));
    await setStandbys('first 1 (away)');
    const [waiting, local] = [await openSession(server), await openSession(server)];
    await local.query('set synchronous_commit = local');
    const committing = waiting.query('insert into film values (200)');
    await expect
      .poll(() => server.query(`select pid from pg_stat_activity where wait_event = 'SyncRep'`))
      .toHaveLength(1);
    await local.query('insert into film values (201)');
    await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":201}']);
    await setStandbys('');
    await committing;
    await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":201}', 'insert {"id":200}']);
    await server.query('truncate film');
  });
});

test('a snapshot of another server than the log disconnects the other connections, which may lead there, too', async () => {
  const holders = openDatabase(server.connectionString, 3);
  const others: string[] = [];
  const { engine, failures } = await startEngine(server, {
    holders,
    changeReader: (reader) => ({
      get slot() {
        return others.pop() ?? reader.slot;
      },
      get position() {
        return reader.position;
      },
      reach: (lsn) => reader.reach(lsn),
      close: () => reader.close(),
    }),
  });
  onTestFinished(() => holders.close());
  const backends = (): Promise<string[]> =>
    Promise.all(
      [1, 2, 3].map(() => holders.query('select pg_backend_pid() from pg_sleep(0.1)').then(([row]) => row![0]!)),
    );
  const before = await backends();
  others.push('the slot of another server');
  await expect(subscribe(engine, requestOf(queryOf('film', [column('id', 'number')])))).rejects.toThrow(
    'Changes of rows cannot be read now',
  );
  expect(failures[0]).toEqual(new ConnectionLost('the snapshot is of another server than the log'));
  await expect
    .poll(() => server.query(`select pid from pg_stat_activity where pid in (${before.join(', ')})`))
    .toEqual([]);
  await expect.poll(() => engine.statistics().isOpen).toBe(true);
  const { messages } = await subscribe(engine, requestOf(queryOf('film', [column('id', 'number')])));
  await server.query('insert into film values (300)');
  await expect.poll(() => asLines(messages)).toEqual(['begin', 'insert {"id":300}']);
  await server.query('truncate film');
});

describe('an error of decoding', () => {
  // PostgreSQL 18 goes on without the publication.
  test.skipIf(serverVersion() >= 18)('ends the reader', async () => {
    await server.query(`create table short (id integer primary key); create publication short for table short`);
    const { failures } = await openTestReader(server, { publication: 'short' });
    await server.query('drop publication short');
    await server.query('insert into short values (1)');
    await expect.poll(() => failures).toMatchObject([{ diagnostics: { code: '42704' } }]);
    await expect.poll(slots).toEqual([]);
  });

  test('of the receiver of transactions ends the reader', async () => {
    const { failures } = await openTestReader(server, {
      onTransaction: () => {
        throw new Error('not understood');
      },
    });
    await server.query('insert into film values (100)');
    await expect.poll(() => failures.map(({ message }) => message)).toEqual(['not understood']);
    await expect.poll(slots).toEqual([]);
    await server.query('truncate film');
  });
});
