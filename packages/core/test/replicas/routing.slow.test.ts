import { createGateway, crudSource, type Gateway, installIdempotency, OptionsError } from '@pgway/core';
import { type PrimaryServer, type ReplicaServer, startPrimary } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { openGateway, untilReplica } from './support.ts';

const schema = `
  create function location() returns text language sql stable as
    $$ select case when pg_is_in_recovery() then 'replica' else 'primary' end $$;
  create function server() returns text language sql stable as $$ select location() $$;
  comment on function server is 'HTTP GET';
  create function server_immutable() returns text language plpgsql immutable as $$ begin return location(); end $$;
  comment on function server_immutable is 'HTTP GET';
  create function server_by_post() returns text language sql stable as $$ select location() $$;
  comment on function server_by_post is 'HTTP POST';
  create function server_volatile() returns text language sql volatile as $$ select location() $$;
  comment on function server_volatile is 'HTTP GET';
  create procedure server_procedure(inout place text default '') language plpgsql as $$ begin place := location(); end $$;
  comment on procedure server_procedure is 'HTTP POST';
  create function server_strong() returns text language sql stable as $$ select location() $$;
  comment on function server_strong is 'HTTP GET
consistency strong';
  create function server_eventual() returns text language sql stable as $$ select location() $$;
  comment on function server_eventual is 'HTTP GET
consistency eventual';
  create function server_volatile_eventual() returns text language sql volatile as $$ select location() $$;
  comment on function server_volatile_eventual is 'HTTP GET
consistency eventual';
  create function server_with_events() returns text language sql stable as $$ select location() $$;
  comment on function server_with_events is 'HTTP GET
info_path';
  create function server_invalidating() returns text language sql stable as $$ select location() $$;
  comment on function server_invalidating is 'HTTP GET
invalidates server';
  create table note (id int generated always as identity primary key, text text, place text);
  create function set_place() returns trigger language plpgsql as $$ begin new.place := location(); return new; end $$;
  create trigger set_place before insert on note for each row execute function set_place();
  create view place as select location() as place;
  comment on view place is 'HTTP';
  comment on table note is 'HTTP';
  create function add_note(_text text) returns int language sql as $$ insert into note (text) values (_text) returning id $$;
  comment on function add_note is 'HTTP POST';
  create function count_notes() returns bigint language sql stable as $$ select count(*) from note $$;
  comment on function count_notes is 'HTTP GET';
  create function write_note() returns text language sql volatile as
    $$ insert into note (text) values ('hidden'); select location() $$;
  create function read_and_write() returns text language plpgsql stable as $$ begin return write_note(); end $$;
  comment on function read_and_write is 'HTTP GET';
  create function many_rows() returns table (number int) language sql volatile as $$ select generate_series(1, 5000) $$;
  comment on function many_rows is 'HTTP POST';
  create function sleep() returns text language sql stable as
    $$ select case when pg_is_in_recovery() then pg_sleep(60)::text else 'primary' end $$;
  comment on function sleep is 'HTTP GET
command_timeout = 4s';
  create function fail() returns text language plpgsql stable as
    $$ begin raise exception 'refused by %', location() using errcode = 'P0001'; end $$;
  comment on function fail is 'HTTP GET';
`;

let primary: PrimaryServer;
let replica: ReplicaServer;

beforeAll(async () => {
  primary = await startPrimary();
  await primary.query(schema);
  replica = await primary.startReplica();
});
afterAll(() => primary.stop());

const options = () => ({
  connectionString: primary.connectionString,
  // The lag of a busy machine is no subject of these tests.
  readReplicas: { connectionStrings: [replica.connectionString], maxLagSeconds: 60 },
});

describe('calls that only read run on a replica', () => {
  test('functions by volatility and annotations, tables and views by operation', async () => {
    const { send, gateway } = await openGateway({
      ...options(),
      sourcesCreated: (sources) => void sources.push(crudSource()),
    });
    const read = async (line: string): Promise<string> => (await send(line)).body;
    expect({
      stable: await read('GET /api/server'),
      immutable: await read('GET /api/server-immutable'),
      'stable by POST': await read('POST /api/server-by-post'),
      volatile: await read('GET /api/server-volatile'),
      procedure: await read('POST /api/server-procedure'),
      strong: await read('GET /api/server-strong'),
      eventual: await read('GET /api/server-eventual'),
      events: await read('GET /api/server-with-events'),
      invalidates: await read('GET /api/server-invalidating'),
      view: await read('GET /api/place'),
    }).toEqual({
      stable: 'replica',
      immutable: 'replica',
      'stable by POST': 'replica',
      volatile: 'primary',
      procedure: '{"place":"primary"}',
      strong: 'primary',
      eventual: 'replica',
      events: 'primary',
      invalidates: 'primary',
      view: '[{"place":"replica"}]',
    });
    expect(await send('PUT /api/note/returning', {}, { text: 'one' })).toMatchObject({
      status: 200,
      body: expect.stringContaining('"place":"primary"'),
    });
    // A volatile function cannot ask for a replica.
    expect(await send('GET /api/server-volatile-eventual').catch(() => null)).toBeNull();
    expect(gateway.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({ code: 'consistency', routine: 'public.server_volatile_eventual()' }),
    ]);
  });

  test('with consistency strong, only the endpoints that ask for it', async () => {
    const { readReplicas, ...rest } = options();
    const { send } = await openGateway({ ...rest, readReplicas: { ...readReplicas, consistency: 'strong' } }, false);
    await expect.poll(async () => (await send('GET /api/server-eventual')).body).toBe('replica');
    expect((await send('GET /api/server')).body).toBe('primary');
  });

  test('the settings of calls are the same as on the primary', async () => {
    await primary.query(`
      create or replace function session() returns text language sql stable as $$ select concat_ws(' ', location(),
        current_setting('application_name'), current_setting('search_path'), current_setting('TimeZone'),
        current_setting('request.user_id', true), current_setting('statement_timeout')) $$;
      comment on function session is 'HTTP GET
command_timeout = 7s';`);
    onTestFinished(async () => void (await primary.query('drop function session')));
    const { send } = await openGateway({ ...options(), traceContext: 'application_name' });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await send('GET /api/session', { traceparent });
    expect(answer.body).toBe(`replica ${traceparent} "$user", public UTC 7s`);
    expect((await send('GET /api/session', { traceparent, consistency: 'strong' })).body).toBe(
      answer.body.replace('replica', 'primary'),
    );
  });
});

test('roles, row level security and session state are as on the primary, on one connection', async () => {
  await primary.query(`
    create role member; create role guest;
    create table paper (owner text);
    insert into paper values ('member'), ('guest');
    alter table paper enable row level security;
    create policy own on paper using (owner = current_user);
    grant select on paper to member, guest;
    create function papers() returns table (place text, owner text, tenant text) language plpgsql stable as
      $$ begin return query select location(), paper.owner, current_setting('app.tenant', true) from paper; end $$;
    comment on function papers is 'HTTP GET';
    create function set_tenant() returns text language sql stable as $$ select set_config('app.tenant', 'x', false) $$;
    comment on function set_tenant is 'HTTP GET'`);
  const { send, gateway } = await openGateway({
    ...options(),
    poolSize: 1,
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } },
  });
  const papers = async (role: string): Promise<string> => (await send('GET /api/papers', { 'x-role': role })).body;
  expect(await papers('member')).toBe('[{"place":"replica","owner":"member","tenant":null}]');
  expect(await papers('guest')).toBe('[{"place":"replica","owner":"guest","tenant":null}]');
  expect((await send('GET /api/set-tenant', { 'x-role': 'member' })).body).toBe('x');
  expect(await papers('member')).toBe('[{"place":"replica","owner":"member","tenant":""}]');
  expect(gateway.statistics().reads.replicas[0]).toMatchObject({ repeatedCalls: 0 });
});

test('after a statement of a commandCallback, the call runs on the primary', async () => {
  const { send } = await openGateway({
    ...options(),
    commandCallback: async ({ request, query, run }) => {
      if (request.header('x-hook') === 'query') await query(`insert into note (text) values ('hook')`);
      return request.header('x-hook') === 'run' ? run() : undefined;
    },
  });
  const read = async (hook: string): Promise<string> => (await send('GET /api/server', { 'x-hook': hook })).body;
  expect([await read('none'), await read('query'), await read('run'), await read('none')]).toEqual([
    'replica',
    'primary',
    'primary',
    'replica',
  ]);
});

describe('errors of a replica', () => {
  test('a timeout is not repeated, nor a call that finds no free connection', async () => {
    const { send, gateway } = await openGateway({ ...options(), poolSize: 1, acquireTimeout: 1 });
    const [first, second] = await Promise.all([send('GET /api/sleep'), send('GET /api/sleep')]);
    expect([first, second].map(({ status, body }) => [status, JSON.parse(body).type])).toEqual([
      [504, 'urn:pgway:problem:timeout'],
      [503, 'urn:pgway:problem:no-free-connection'],
    ]);
    const { replicas } = gateway.statistics().reads;
    expect(replicas[0]).toMatchObject({ repeatedCalls: 0, unusableReason: null });
  });

  test('an error is that of the primary', async () => {
    const { send, gateway } = await openGateway(options());
    const { status, body } = await send('GET /api/fail');
    expect([status, JSON.parse(body)]).toEqual([400, expect.objectContaining({ title: 'refused by primary' })]);
    expect(gateway.statistics().reads.replicas[0]).toMatchObject({ repeatedCalls: 1, unusableReason: null });
  });

  test('a stable function that writes runs on the primary, and stays there', async () => {
    const lines: unknown[] = [];
    const add = (level: string) => (fields: object, message: string) =>
      void (Object.hasOwn(fields, 'replica') && lines.push({ level, ...fields, message }));
    const logger = { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
    const { send, gateway, observations } = await openGateway({ ...options(), logger });
    expect(await send('GET /api/read-and-write')).toMatchObject({ status: 200, body: 'primary' });
    expect(await send('GET /api/read-and-write')).toMatchObject({ status: 200, body: 'primary' });
    expect(gateway.statistics().reads.replicas[0]).toMatchObject({ repeatedCalls: 1 });
    expect(observations.filter(({ kind }) => kind === 'read-refused')).toEqual([
      {
        kind: 'read-refused',
        endpoint: expect.objectContaining({ id: 'public.read_and_write()' }),
        replica: new URL(replica.connectionString).host,
        error: expect.objectContaining({ message: 'cannot execute INSERT in a read-only transaction' }),
      },
    ]);
    expect(lines.slice(-2)).toEqual([
      expect.objectContaining({ level: 'info', message: 'a read replica gets calls' }),
      expect.objectContaining({
        level: 'warn',
        routine: 'public.read_and_write()',
        sqlstate: '25006',
        message:
          'a routine that is declared to only read can run on the primary only, and so do its calls from now on; declare it volatile, or add consistency strong to its comment',
      }),
    ]);
  });

  test('a replica without a migration gets no calls of endpoints that were read after it', async () => {
    // The replica stays within the lag bound while it replays nothing.
    const { readReplicas, ...rest } = options();
    const { send, gateway } = await openGateway({ ...rest, readReplicas: { ...readReplicas, maxLagSeconds: 600 } });
    await replica.query('select pg_wal_replay_pause()');
    onTestFinished(async () => void (await replica.query('select pg_wal_replay_resume()')));
    await primary.query(`
      create function newest() returns text language sql stable as $$ select location() $$;
      comment on function newest is 'HTTP GET'`);
    onTestFinished(async () => void (await primary.query('drop function newest()')));
    expect((await send('GET /api/server')).body).toBe('replica');
    await gateway.refresh();
    expect(await send('GET /api/newest')).toMatchObject({ status: 200, body: 'primary' });
    expect((await send('GET /api/server')).body).toBe('primary');
    expect(gateway.statistics().reads.replicas[0]).toMatchObject({ repeatedCalls: 0, unusableReason: null });
    await replica.query('select pg_wal_replay_resume()');
    await untilReplica(send);
    expect((await send('GET /api/newest')).body).toBe('replica');
  });
});

describe('a client reads its own writes', () => {
  test('with the token of a write, reads include the write', async () => {
    const { send } = await openGateway(options());
    await replica.query('select pg_wal_replay_pause()');
    onTestFinished(async () => void (await replica.query('select pg_wal_replay_resume()')));
    const before = Number((await send('GET /api/count-notes', { consistency: 'strong' })).body);
    const { headers, status } = await send('POST /api/add-note', { consistency: 'session' }, { text: 'own' });
    const token = headers.get('consistency-token')!;
    expect([status, token]).toEqual([200, expect.stringMatching(/^0000000\d-[0-9A-F]{16}$/)]);
    expect([
      (await send('GET /api/count-notes', { 'consistency-token': token })).body,
      (await send('GET /api/count-notes')).body,
    ]).toEqual([String(before + 1), String(before)]);
    await replica.query('select pg_wal_replay_resume()');
    await expect.poll(async () => (await send('GET /api/server', { 'consistency-token': token })).body).toBe('replica');
    expect((await send('GET /api/count-notes', { 'consistency-token': token })).body).toBe(String(before + 1));
  });

  test('only writes of requests that ask for it have a token', async () => {
    const { send } = await openGateway(options());
    const token = async (line: string, headers: Readonly<Record<string, string>>): Promise<string | null> =>
      (await send(line, headers, line.startsWith('POST') ? {} : undefined)).headers.get('consistency-token');
    expect([
      await token('POST /api/many-rows', {}),
      await token('POST /api/many-rows', { consistency: 'eventual' }),
      await token('GET /api/server', { consistency: 'session' }),
    ]).toEqual([null, null, null]);
    // The response is large enough for a stream.
    const first = await token('POST /api/many-rows', { consistency: 'session' });
    expect(first).not.toBeNull();
    const second = await token('POST /api/many-rows', { 'consistency-token': first! });
    expect(second! >= first!).toBe(true);
  });

  test('a forged token leads to the primary, a malformed one is refused', async () => {
    const { send } = await openGateway(options());
    expect(await send('GET /api/server', { 'consistency-token': `00000001-${'F'.repeat(16)}` })).toMatchObject({
      status: 200,
      body: 'primary',
    });
    expect(await send('GET /api/server', { 'consistency-token': `FFFFFFFF-${'0'.repeat(16)}` })).toMatchObject({
      status: 200,
      body: 'primary',
    });
    expect(await send('GET /api/server', { 'consistency-token': `00000000-${'0'.repeat(16)}` })).toMatchObject({
      status: 200,
      body: 'replica',
    });
    for (const forged of ['', '1', '0/0', `00000001-${'f'.repeat(16)}`, 'x'.repeat(8000), "1'; select 1"]) {
      const { status, body } = await send('GET /api/server', { 'consistency-token': forged });
      expect([status, JSON.parse(body)]).toEqual([
        400,
        {
          type: 'urn:pgway:problem:invalid-consistency',
          title: 'The consistency headers are not valid',
          status: 400,
          detail: 'The header Consistency-Token must be the one of an earlier response, unchanged.',
        },
      ]);
    }
    expect(await send('GET /api/server', { consistency: 'Strong' })).toMatchObject({ status: 200, body: 'primary' });
    expect(await send('GET /api/server', { consistency: 'exact' })).toMatchObject({ status: 400 });
  });
});

describe('batches and idempotency keys', () => {
  const get = { method: 'GET', path: '/api/server' };
  const token = /^[0-9a-f-]+$/i;

  test('a batch runs on the primary, and its writes have a token', async () => {
    const { send } = await openGateway({ ...options(), batchPath: '/batch' });
    const batch = (requests: readonly object[]) => send('POST /batch', { consistency: 'session' }, requests);
    const reads = await batch([get, get]);
    expect([reads.body, reads.headers.get('consistency-token')]).toEqual([
      '[{"status":200,"body":"primary"},{"status":200,"body":"primary"}]',
      null,
    ]);
    const mixed = await batch([{ method: 'POST', path: '/api/add-note', body: { text: 'batch' } }, get]);
    expect(mixed).toMatchObject({ status: 200, body: expect.stringMatching(/"body":"primary"\}\]$/) as string });
    expect(mixed.headers.get('consistency-token')).toMatch(token);
    expect((await send('GET /api/server', { consistency: 'eventual' })).body).toBe('replica');
  });

  test('a repeated request reads its response on the primary, and has a token', async () => {
    await primary.query(`${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
      create function add_once(_text text) returns int language sql as $$ insert into note (text) values (_text) returning id $$;
      comment on function add_once is 'HTTP POST
idempotent';`);
    onTestFinished(async () => void (await primary.query('drop function add_once; drop schema pgway cascade')));
    const { send } = await openGateway({ ...options(), batchPath: '/batch' });
    const headers = { consistency: 'session', 'idempotency-key': 'key-1' };
    const batchHeaders = { ...headers, 'idempotency-key': 'key-2' };
    const requests = [{ method: 'POST', path: '/api/add-once', body: { text: 'b' } }];
    for (const act of [
      () => send('POST /api/add-once', headers, { text: 'a' }),
      () => send('POST /batch', batchHeaders, requests),
    ]) {
      const [first, second] = [await act(), await act()];
      expect(second).toMatchObject({ status: 200, body: first.body });
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect([first, second].map((each) => each.headers.get('consistency-token'))).toEqual([
        expect.stringMatching(token),
        expect.stringMatching(token),
      ]);
    }
  });
});

describe('options', () => {
  const start = (readReplicas: object, more: object = {}): Promise<Gateway> =>
    createGateway({ connectionString: primary.connectionString, readReplicas, ...more });

  test.each([
    [{ connectionStrings: ['postgres://u:secret@h:x/d'] }, 'readReplicas.connectionStrings[0]: '],
    [{ connectionStrings: ['postgres://a,b/d', 'host=b'] }, '"b:5432" is listed twice; list each server once'],
    [{ connectionStrings: 'postgres://a' }, 'readReplicas.connectionStrings: must be a list'],
    [{ maxLagSeconds: 0.1 }, 'readReplicas.maxLagSeconds: must be'],
    [{ consistency: 'session' }, 'readReplicas.consistency: must be'],
  ])('%j is refused', async (readReplicas, message) => {
    const error = await start(readReplicas).catch((reason: unknown) => reason as Error);
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain('secret');
  });

  test('a connectionProvider is refused', async () => {
    await expect(start({ connectionStrings: ['host=a'] }, { connectionProvider: () => null })).rejects.toThrow(
      'readReplicas cannot be used with a connectionProvider',
    );
  });
});
