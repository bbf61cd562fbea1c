import { type ConnectionProvider, createGateway, type Gateway, type Observation } from '@pgway/core';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

let database: TestDatabase;
let gateway: Gateway;
let client: Client;
/** The arguments of the release calls, in order. */
let released: (string | null)[];
let provide: ConnectionProvider;
const observations: Observation[] = [];

beforeAll(async () => {
  database = await freshDatabase(`
    create table note (entry text unique);
    create function add_note(entry text) returns text language sql as 'insert into note values (entry) returning entry';
    create function get_notes() returns setof text language sql as 'select entry from note order by 1';
    create function settings() returns table (zone text, style text, timeout text, agent text) language sql as $$
      select current_setting('TimeZone'), current_setting('DateStyle'), current_setting('statement_timeout'),
        current_setting('request.headers', true)::json ->> 'x-agent' $$;
    create function many() returns setof text language sql as $$ select repeat('x', 1000) from generate_series(1, 2000) $$;
    create function nap(seconds float8) returns int language sql as $$ select pg_backend_pid() from pg_sleep(seconds) $$;
    comment on function add_note(text) is 'HTTP POST';
    comment on function get_notes() is 'HTTP GET';
    comment on function settings() is 'HTTP GET
request_headers context
timeout 20s';
    comment on function many() is 'HTTP GET';
    comment on function nap(float8) is 'HTTP GET';
  `);
  gateway = await createGateway({
    connectionString: database.connectionString,
    connectionProvider: (...asked) => provide(...asked),
    acquireTimeout: 1,
    observer: (observation) => void observations.push(observation),
  });
});
afterAll(async () => {
  await gateway.close();
  await database.drop();
});
beforeEach(async () => {
  await database.query('truncate note');
  client = new Client({ connectionString: database.connectionString });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  released = [];
  provide = () => ({ client, release: (error) => void released.push(error?.name ?? null) });
});

async function send(line: string, options: RequestInit = {}): Promise<string> {
  const [method = '', path = ''] = line.split(' ');
  const response = await gateway.fetch(new Request(`http://gateway${path}`, { method, ...options }));
  return `${response!.status} ${await response!.text()}`;
}

const add = (entry: string): Promise<string> =>
  send('POST /api/add-note', { body: JSON.stringify({ entry }), headers: { 'content-type': 'application/json' } });

async function notes(): Promise<readonly string[]> {
  const rows = await database.query('select entry from note order by 1');
  return rows.map((row) => row['entry'] as string);
}

describe('in a transaction of the host', () => {
  test('the effects of the call are rolled back or committed with it', async () => {
    await client.query('begin');
    await client.query(`insert into note values ('theirs')`);
    expect(await add('ours')).toBe('200 ours');
    expect(await send('GET /api/get-notes')).toBe('200 ["ours","theirs"]');
    expect(await notes()).toEqual([]);
    await client.query('rollback');
    expect(await notes()).toEqual([]);

    await client.query('begin');
    expect(await add('kept')).toBe('200 kept');
    await client.query('commit');
    expect(await notes()).toEqual(['kept']);
    expect(released).toEqual([null, null, null]);
  });

  test('the settings of the gateway apply to the call, those of the host are restored after it', async () => {
    const shown = async (): Promise<unknown> => {
      const { rows } =
        await client.query(`select current_setting('TimeZone') as zone, current_setting('DateStyle') as style,
        current_setting('statement_timeout') as timeout, current_setting('request.headers', true) as headers`);
      return rows[0];
    };
    await client.query(`set TimeZone = 'Asia/Tokyo'`);
    await client.query('begin');
    await client.query(`set local DateStyle = 'German'; set local statement_timeout = '7s'`);
    const theirs = { zone: 'Asia/Tokyo', style: 'German, DMY', timeout: '7s' };
    expect(await shown()).toEqual({ ...theirs, headers: null });
    expect(await send('GET /api/settings', { headers: { 'x-agent': 'me' } })).toBe(
      '200 [{"zone":"UTC","style":"ISO, DMY","timeout":"20s","agent":"me"}]',
    );
    expect(await shown()).toEqual({ ...theirs, headers: '' });
    await client.query('commit');
    expect(await shown()).toMatchObject({ zone: 'Asia/Tokyo', headers: '' });
  });

  test('an error aborts the transaction, and a savepoint recovers it', async () => {
    await client.query('begin');
    expect(await add('a')).toBe('200 a');
    await client.query('savepoint before');
    expect(await add('a')).toMatch(/^409 .*duplicate key/);
    await expect(client.query('select 1')).rejects.toThrow('current transaction is aborted');
    await client.query('rollback to before');
    expect(await add('b')).toBe('200 b');
    await client.query('commit');
    expect(await notes()).toEqual(['a', 'b']);
    expect(released).toEqual([null, null, null]);
  });

  test('concurrent calls and queries of the host take turns', async () => {
    await client.query('begin');
    const outcomes = await Promise.all([
      add('a'),
      client.query(`insert into note values ('b') returning entry`).then(({ rows }) => rows),
      add('c'),
      send('GET /api/many').then((answer) => answer.length),
      client.query(`select pg_sleep(0.05)`).then(({ rowCount }) => rowCount),
      add('d'),
    ]);
    expect(outcomes).toEqual(['200 a', [{ entry: 'b' }], '200 c', 4 + 2000 * 1003 + 1, 1, '200 d']);
    expect((await client.query('select entry from note order by 1')).rows.map(({ entry }) => entry)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    await client.query('rollback');
    expect(await notes()).toEqual([]);
  });
});

test('concurrent calls do not queue in the client: `pg` reports that as deprecated', async () => {
  const query = vi.spyOn(client, 'query');
  const lengths: number[] = [];
  query.mockImplementation((...args: readonly unknown[]) => {
    lengths.push((client as unknown as { _queryQueue: readonly unknown[] })._queryQueue.length);
    return Client.prototype.query.apply(client, args as never);
  });
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map(add));
  expect(answers).toEqual(['200 a', '200 b', '200 c', '200 d']);
  expect(new Set(lengths)).toEqual(new Set([0]));
});

test('without a transaction each call has its own, and leaves no session state', async () => {
  expect(await add('a')).toBe('200 a');
  expect(await send('GET /api/settings', { headers: { 'x-agent': 'me' } })).toContain('"agent":"me"');
  const { rows } = await client.query(`select current_setting('statement_timeout') as timeout,
    current_setting('request.headers', true) as headers, (select count(*)::int from pg_prepared_statements) as prepared`);
  expect(rows).toEqual([{ timeout: '0', headers: '', prepared: 0 }]);
  expect(await notes()).toEqual(['a']);
});

test('notifications for the host arrive, also during a call', async () => {
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => void heard.push(payload));
  await client.query('listen news');
  const napping = send('GET /api/nap?seconds=0.2');
  await database.query(`select pg_notify('news', 'during')`);
  expect(await napping).toMatch(/^200 \d+$/);
  await client.query(`select pg_notify('news', 'after')`);
  await expect.poll(() => heard).toEqual(['during', 'after']);
});

test('an abandoned call is cancelled, and the client is then usable for the host', async () => {
  const leaving = new AbortController();
  const left = send('GET /api/nap?seconds=600', { signal: leaving.signal }).catch(() => 'left');
  await expect
    .poll(() =>
      database.query(`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`),
    )
    .toHaveLength(1);
  leaving.abort();
  await left;
  await expect.poll(() => released).toEqual([null]);
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

describe('a client of a pool', () => {
  test('is released once, after every response', async () => {
    const pool = new Pool({ connectionString: database.connectionString, max: 1 });
    // \`end\` of the pool does not wait until its connections have ended, and the database is dropped after it.
    pool.on('error', () => undefined);
    onTestFinished(() => pool.end());
    let releases = 0;
    provide = async () => {
      const pooled = await pool.connect();
      return {
        client: pooled,
        release: (error) => {
          releases++;
          pooled.release(error);
        },
      };
    };
    expect(await Promise.all(['a', 'b', 'c'].map(add))).toEqual(['200 a', '200 b', '200 c']);
    expect(await add('a')).toMatch(/^409 /);
    expect([releases, pool.totalCount, pool.idleCount]).toEqual([4, 1, 1]);
  });
});

describe('failures', () => {
  test('a lost connection: 503, and release receives the error', async () => {
    const { rows } = await client.query('select pg_backend_pid() as pid');
    const napping = send('GET /api/nap?seconds=600');
    await expect
      .poll(() =>
        database.query(`select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`, [rows[0].pid]),
      )
      .toHaveLength(1);
    await database.query('select pg_terminate_backend($1)', [rows[0].pid]);
    expect(await napping).toMatch(/^503 /);
    expect(released).toEqual(['ConnectionLost']);
    expect(await add('a')).toMatch(/^503 /);
    expect(released).toEqual(['ConnectionLost', 'ConnectionLost']);
  });

  test('a client that is busy for too long: 503', async () => {
    const busy = client.query('select pg_sleep(1.5)');
    expect(await add('a')).toMatch(/^503 .*no-free-connection/);
    await busy;
    expect(await add('b')).toBe('200 b');
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('an invalid client and a provider that throws: an error, not a hang', async () => {
    provide = () => ({ client: { query: async () => [] } });
    expect(await add('a')).toMatch(/^503 /);
    provide = () => {
      throw new Error('no tenant');
    };
    expect(await add('a')).toMatch(/^500 .*internal/);
    const failures = observations.filter(({ kind }) => kind === 'request-failed');
    expect(failures.at(-1)).toMatchObject({ error: { message: 'no tenant' } });
  });

  test('a release that throws: 500', async () => {
    provide = () => ({
      client,
      release: () => {
        throw new Error('cannot');
      },
    });
    expect(await add('a')).toMatch(/^500 /);
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

test.each([null, undefined])('%s makes the request use the connections of the gateway', async (given) => {
  provide = () => given;
  await client.query('begin');
  expect(await add('ours')).toBe('200 ours');
  await client.query('rollback');
  expect(await notes()).toEqual(['ours']);
});

test('a provider without a client gets an error that says what to return', async () => {
  provide = () => ({}) as never;
  expect(await add('ours')).toMatch(/^503 /);
  expect(observations.findLast(({ kind }) => kind === 'request-failed')).toMatchObject({
    error: { message: expect.stringContaining('the provided client is not a connected JavaScript client of "pg"') },
  });
});
