import { randomBytes } from 'node:crypto';
import { crudSource, type GatewayOptions, functionsSource } from '@pgway/core';
import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { RecordingStore, userByHeader } from '../rate-limits/support.ts';

/** The context of a request within a batch is that of the same request alone. */

interface Item {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function batch(
  gateway: TestGateway,
  requests: readonly Item[],
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }> {
  const response = await gateway.send('POST /batch', { body: requests, headers });
  return { ...response, body: JSON.parse(response.body) as unknown };
}

const get = (path: string): Item => ({ method: 'GET', path });
const post = (path: string, body: unknown = {}): Item => ({ method: 'POST', path, body });
const bodies = (results: unknown): readonly unknown[] =>
  (results as readonly { body: unknown }[]).map(({ body }) => body);

describe('under the role of the caller', () => {
  const unique = randomBytes(6).toString('hex');
  const member = `batch_member_${unique}`;
  const guest = `batch_guest_${unique}`;
  const gateway = useGateway(
    `create role ${member}; create role ${guest};
     create table note (owner text default current_user, body text);
     alter table note enable row level security;
     create policy own on note using (owner = current_user);
     grant select, insert on note to ${member}, ${guest};
     create function add_note(_body text) returns text language sql
     as $$ insert into note (body) values (_body) returning owner || ':' || body $$;
     comment on function add_note is 'HTTP POST';
     create function notes() returns setof text language sql stable as $$ select body from note order by body $$;
     comment on function notes is 'HTTP GET';
     create function who(_context text default current_setting('request.ip_address', true)) returns text
     language sql stable as $$ select current_user || '/' || coalesce(_context, '') $$;
     comment on function who is 'HTTP GET';
     create function who_in_context() returns text language sql stable
     as $$ select current_user || '/' || (current_setting('request.ip_address', true) <> '') $$;
     comment on function who_in_context is E'HTTP GET\\nuser_context';
     create function members_only() returns int language sql stable as $$ select 1 $$;
     comment on function members_only is 'HTTP GET';
     revoke execute on function members_only from public;
     grant execute on function members_only to ${member};`,
    {
      batchPath: '/batch',
      poolSize: 1,
      authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } },
    },
  );

  const asRole = (role: string): Readonly<Record<string, string>> => ({ 'x-role': role });

  test('each role sees its own rows, and the session is clean afterwards', async () => {
    const items = [post('/api/add-note', { body: 'a' }), get('/api/who'), get('/api/who-in-context'), get('/api/who')];
    for (const role of [member, guest, member]) {
      const { status, body } = await batch(gateway, items, asRole(role));
      expect([status, bodies(body)]).toEqual([200, [`${role}:a`, `${role}/`, `${role}/true`, `${role}/`]]);
    }
    expect(bodies((await batch(gateway, [get('/api/notes')], asRole(guest))).body)).toEqual([['a']]);
    expect(bodies((await batch(gateway, [get('/api/notes')], asRole(member))).body)).toEqual([['a', 'a']]);
    const login = (await gateway.send('GET /api/who')).body;
    expect([member, guest].some((role) => login.startsWith(role))).toBe(false);
  });

  test('privileges are those of the role, also after another role has used the statement', async () => {
    expect((await batch(gateway, [get('/api/members-only')], asRole(member))).status).toBe(200);
    const refused = await batch(gateway, [get('/api/who'), get('/api/members-only')], asRole(guest));
    expect([refused.status, refused.body]).toMatchObject([403, { code: '42501', pointer: '/1' }]);
    expect((await batch(gateway, [get('/api/members-only')], asRole(member))).status).toBe(200);
  });

  test('references keep the role', async () => {
    const items = [get('/api/who'), { ...get(''), path: ['/api/who?context=', { $ref: '0' }] as unknown as string }];
    const { body } = await batch(gateway, items, asRole(guest));
    expect(bodies(body)).toEqual([`${guest}/`, `${guest}/${guest}/`]);
  });

  afterAll(async () => {
    await gateway.database.query(`drop owned by ${member}, ${guest}; drop role ${member}; drop role ${guest}`);
  });
});

describe('rate limits', () => {
  const store = new RecordingStore();
  const limited = (name: string, policy: string): string => `
    create function ${name}() returns text language sql stable as $$ select 'x' $$;
    comment on function ${name} is E'HTTP GET\\nrate_limit ${policy}';`;
  const gateway = useGateway([limited('strict', 'strict'), limited('parallel', 'parallel')].join('\n'), {
    batchPath: '/batch',
    rateLimits: {
      store,
      policies: {
        strict: { type: 'fixed-window', limit: 2, window: 30 },
        parallel: { type: 'concurrency', limit: 2 },
      },
    },
    authentication: { schemes: [userByHeader] },
  });

  test('each request counts, and shows its limit', async () => {
    store.reset();
    const refused = await batch(gateway, [get('/api/strict'), get('/api/strict'), get('/api/strict')]);
    expect([refused.status, refused.body]).toMatchObject([
      429,
      { type: 'urn:pgway:problem:quota-exceeded', pointer: '/2' },
    ]);
    expect(refused.headers.get('retry-after')).toBe('30');
    store.reset();
    const { body } = await batch(gateway, [get('/api/strict')]);
    expect(body).toEqual([
      { status: 200, headers: { 'ratelimit-policy': '"strict";q=2;w=30', ratelimit: '"strict";r=1;t=30' }, body: 'x' },
    ]);
  });

  test('concurrent requests are released at the end, also after a failure', async () => {
    store.reset();
    const parallel = get('/api/parallel');
    expect((await batch(gateway, [parallel, parallel])).status).toBe(200);
    expect((await batch(gateway, [parallel, parallel, parallel])).status).toBe(429);
    expect((await batch(gateway, [parallel, get('/api/unknown')])).status).toBe(404);
    expect([store.permits, store.mostPermits]).toEqual([0, 2]);
  });
});

describe('cached responses', () => {
  const gateway = useGateway(
    `create table book (title text);
     create function count_books() returns text language sql as $$ select count(*)::text from book $$;
     comment on function count_books is E'HTTP GET\\ncached';
     create function add_book() returns void language sql as $$ insert into book values ('x') $$;
     comment on function add_book is E'HTTP POST\\ninvalidates count_books';
     create function fail() returns void language plpgsql as $$ begin raise exception 'no'; end $$;
     comment on function fail is 'HTTP POST';`,
    { batchPath: '/batch' },
  );

  test('a batch reads none, and invalidates them when it has committed', async () => {
    const count = async (): Promise<string> => (await gateway.send('GET /api/count-books')).body;
    expect(await count()).toBe('0');
    const [add, read] = [post('/api/add-book'), get('/api/count-books')];
    expect(bodies((await batch(gateway, [add, read])).body)).toEqual([null, '1']);
    expect(await count()).toBe('1');
    expect((await batch(gateway, [add, post('/api/fail')])).status).toBe(400);
    expect(await count()).toBe('1');
  });
});

describe('hooks of the host', () => {
  const sql = `
    create table t (i int);
    create function add(_i int) returns int language sql as $$ insert into t values (_i) returning i $$;
    comment on function add is 'HTTP POST';`;
  const start = async (options: Partial<GatewayOptions>): Promise<TestGateway> => {
    const gateway = await startGateway(sql, { batchPath: '/batch', ...options });
    onTestFinished(() => gateway.close());
    return gateway;
  };

  test('validateParameters may answer a request; an error status ends the batch', async () => {
    const gateway = await start({
      validateParameters: ({ value }) => {
        if (value === '7') return { status: 200, body: 'seven' };
        return value === '8' ? { status: 422, body: 'eight' } : undefined;
      },
    });
    const [one, seven, eight] = [1, 7, 8].map((i) => post('/api/add', { i }));
    expect(bodies((await batch(gateway, [one!, seven!])).body)).toEqual(['1', 'seven']);
    const refused = await batch(gateway, [one!, eight!]);
    expect([refused.status, refused.body]).toMatchObject([422, { response: 'eight', pointer: '/1' }]);
    expect(await gateway.database.query('select i from t')).toEqual([{ i: 1 }]);
  });

  test('the statements of commandCallback are part of the transaction', async () => {
    const gateway = await start({
      commandCallback: async ({ run, query }) => {
        const before = await query('select count(*) from t');
        const { status, body } = await run();
        return { status, body: `${Buffer.from(body!).toString()} after ${before[0]![0]}` };
      },
    });
    const [one, two] = [1, 2].map((i) => post('/api/add', { i }));
    expect(bodies((await batch(gateway, [one!, two!])).body)).toEqual(['1 after 0', '2 after 1']);
    expect((await batch(gateway, [one!, post('/api/add', { i: 'x' })])).status).toBe(400);
    expect(await gateway.database.query('select i from t')).toEqual([{ i: 1 }, { i: 2 }]);
  });

  test('connectionProvider stops the start', async () => {
    await expect(start({ connectionProvider: () => null })).rejects.toThrow(/batchPath and connectionProvider/);
    await expect(start({ batchPath: 'batch' })).rejects.toThrow(/"batch" must begin with a slash/);
  });
});

describe('tables', () => {
  const gateway = useGateway(
    `create table item (id int generated always as identity primary key, name text);
     comment on table item is E'HTTP\\nlisting';`,
    {
      batchPath: '/batch',
      sourcesCreated: (sources) => void sources.splice(0, sources.length, functionsSource(), crudSource()),
    },
  );

  test('a row that does not exist rolls back', async () => {
    const add = { method: 'PUT', path: '/api/item/returning', body: { name: 'a' } };
    const added = await batch(gateway, [add, { method: 'GET', path: '/api/item?name=a' }]);
    expect([added.status, bodies(added.body)]).toEqual([200, [[{ id: 1, name: 'a' }], [{ id: 1, name: 'a' }]]]);
    const update = { method: 'POST', path: '/api/item', body: { id: 99, name: 'b' }, headers: { 'If-Match': '"1"' } };
    const refused = await batch(gateway, [add, update]);
    expect([refused.status, refused.body]).toMatchObject([412, { pointer: '/1' }]);
    for (const missing of [
      { method: 'POST', path: '/api/item', body: { id: 99, name: 'b' } },
      { method: 'DELETE', path: '/api/item?id=99' },
    ]) {
      const { status, body } = await batch(gateway, [add, missing]);
      expect([status, body]).toMatchObject([404, { type: 'urn:pgway:problem:row-not-found', pointer: '/1' }]);
    }
    expect(await gateway.database.query('select id from item')).toEqual([{ id: 1 }]);
  });
});

test('procedures run in the transaction, and one that commits is refused', async () => {
  const gateway = await startGateway(
    `create table t (i int);
     create procedure add(_i int, inout _double int) language plpgsql
     as $$ begin insert into t values (_i); _double := 2 * _i; end $$;
     comment on procedure add is 'HTTP POST';
     create procedure commits() language plpgsql as $$ begin commit; end $$;
     comment on procedure commits is 'HTTP POST';`,
    { batchPath: '/batch' },
  );
  onTestFinished(() => gateway.close());
  const add = post('/api/add', { i: 1, double: null });
  const { body } = await batch(gateway, [add, add]);
  expect(bodies(body)).toEqual([{ double: 2 }, { double: 2 }]);
  const refused = await batch(gateway, [add, post('/api/commits')]);
  expect([refused.status, refused.body]).toMatchObject([500, { code: '2D000', pointer: '/1' }]);
  expect(await gateway.database.query('select count(*)::int as count from t')).toEqual([{ count: 2 }]);
});

test('a role and settings that a routine leaves to its transaction do not reach later requests', async () => {
  const role = `batch_admin_${randomBytes(6).toString('hex')}`;
  const gateway = await startGateway(
    `create role ${role};
     create function context() returns text language sql stable as $$
       select concat_ws(' ', current_user = session_user, current_setting('search_path'), current_setting('row_security'),
         current_setting('datestyle'), date '2026-01-02')
     $$;
     comment on function context is 'HTTP GET';
     create function elevate() returns text language plpgsql as $$
       begin
         set local role ${role};
         perform set_config('search_path', 'pg_catalog', true), set_config('row_security', 'off', true);
         set local datestyle = 'German';
         return current_user;
       end $$;
     comment on function elevate is 'HTTP POST';
     create function elevate_session() returns text language plpgsql as $$ begin set role ${role}; return current_user; end $$;
     comment on function elevate_session is 'HTTP POST';
     create function elevate_inside() returns text language plpgsql as $$ begin return elevate(); end $$;
     comment on function elevate_inside is 'HTTP POST';`,
    { batchPath: '/batch' },
  );
  onTestFinished(async () => {
    await gateway.database.query(`drop role ${role}`);
    await gateway.close();
  });
  const context = get('/api/context');
  const alone = (await gateway.send('GET /api/context')).body;
  expect(alone).toBe('t "$user", public on ISO, MDY 2026-01-02');
  for (const path of ['/api/elevate', '/api/elevate-session', '/api/elevate-inside']) {
    const { status, body } = await batch(gateway, [post(path), context, post(path), context]);
    expect([path, status, bodies(body)]).toEqual([path, 200, [role, alone, role, alone]]);
  }
  // The path has a reference, so that the endpoint is known after the first request has run.
  const late = { ...context, path: ['/api/', { $ref: '0' }, '-inside'] as unknown as string, method: 'POST' };
  const named = post('/api/echo', { text: 'elevate' });
  await gateway.database.query(`create function echo(_text text) returns text language sql as 'select _text';
    comment on function echo is 'HTTP POST'`);
  await gateway.gateway.refresh();
  expect(bodies((await batch(gateway, [named, late, context])).body)).toEqual(['elevate', role, alone]);
  expect((await gateway.send('GET /api/context')).body).toBe(alone);
});

test('batches that authenticate within their transaction do not wait for the connections of each other', async () => {
  const gateway = await startGateway(
    `create function check_user(_user text, _password text) returns table (status boolean, name text) language sql
     as $$ select true, _user $$;
     create function word() returns text language sql stable as $$ select 'word' $$;
     comment on function word is 'HTTP GET';
     create function protected(_value text) returns text language sql stable as $$ select _value $$;
     comment on function protected is E'HTTP GET\nbasic_auth\nchallenge_command = select * from check_user($1, $2)';`,
    { batchPath: '/batch', poolSize: 2, authentication: {} },
  );
  onTestFinished(() => gateway.close());
  const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
  const items = [get('/api/word'), { ...get(''), path: ['/api/protected?value=', { $ref: '0' }] as unknown as string }];
  const batches = await Promise.all(Array.from({ length: 6 }, () => batch(gateway, items, { authorization })));
  const results = [
    { status: 200, body: 'word' },
    { status: 200, headers: { 'cache-control': 'private' }, body: 'word' },
  ];
  expect(batches.map(({ status, body }) => [status, body])).toEqual(batches.map(() => [200, results]));
});

test.each([
  [true, 'the connection that has prepared its call'],
  [true, 'a new connection'],
  [false, 'the same connection'],
  [false, 'a new connection'],
] as const)(
  'a function that has changed since the load repeats no change; prepared statements: %s, on %s',
  async (preparedStatements, connection) => {
    const gateway = await startGateway(
      `create table t (i int);
       create function add(_i int) returns int language sql as $$ insert into t values (_i) returning i $$;
       comment on function add is 'HTTP POST';
       create function latest() returns int language sql stable as $$ select max(i) from t $$;
       comment on function latest is 'HTTP GET';`,
      { batchPath: '/batch', preparedStatements, poolSize: 1 },
    );
    onTestFinished(() => gateway.close());
    const add = (i: unknown): Item => post('/api/add', { i });
    const items = [add(1), add({ $ref: '0' }), get('/api/latest')];
    expect(bodies((await batch(gateway, items)).body)).toEqual(['1', '1', '1']);
    await gateway.database.query(`drop function latest();
      create function latest() returns text language sql stable as $$ select 'latest: ' || max(i) from t $$;
      comment on function latest is 'HTTP GET'`);
    const open = (): number => gateway.gateway.statistics().pools[0]!.open;
    const isNew = connection === 'a new connection';
    await gateway.database.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where ${isNew} and datname = current_database() and pid <> pg_backend_pid()`);
    await expect.poll(open).toBe(isNew ? 0 : 1);
    const { status, body } = await batch(gateway, [add(2), get('/api/latest')]);
    expect([status, body]).toEqual([
      200,
      [
        { status: 200, body: '2' },
        { status: 200, body: 'latest: 2' },
      ],
    ]);
    expect(await gateway.database.query('select i from t order by i')).toEqual([{ i: 1 }, { i: 1 }, { i: 2 }]);
  },
);

test('cookies of the requests are headers of the batch', async () => {
  const gateway = await startGateway(
    `create function remember(_value text) returns text language plpgsql as $$
       begin
         perform set_config('response.headers', format('[{"set-cookie":"last=%s; HttpOnly"},{"x-last":"%s"}]', _value, _value), true);
         return _value;
       end $$;
     comment on function remember is E'HTTP POST\nresponse_settings';`,
    { batchPath: '/batch' },
  );
  onTestFinished(() => gateway.close());
  const [a, b] = [post('/api/remember', { value: 'a' }), post('/api/remember', { value: 'b' })];
  const { status, body, headers } = await batch(gateway, [a, b]);
  expect(headers.getSetCookie()).toEqual(['last=a; HttpOnly', 'last=b; HttpOnly']);
  expect([status, body]).toEqual([
    200,
    [
      { status: 200, headers: { 'x-last': 'a' }, body: 'a' },
      { status: 200, headers: { 'x-last': 'b' }, body: 'b' },
    ],
  ]);
});

test('a batch of idempotent requests is repeated after a serialization failure, others are not', async () => {
  const gateway = await startGateway(
    `create sequence attempts;
     create function fail_twice() returns text language plpgsql as $$
       begin
         if nextval('attempts') < 3 then raise exception 'conflict' using errcode = '40001'; end if;
         return 'done';
       end $$;
     comment on function fail_twice is 'HTTP PUT';
     create function fail_twice_post() returns text language sql as $$ select fail_twice() $$;
     comment on function fail_twice_post is 'HTTP POST';`,
    { batchPath: '/batch' },
  );
  onTestFinished(() => gateway.close());
  const put: Item = { method: 'PUT', path: '/api/fail-twice' };
  const refused = await batch(gateway, [post('/api/fail-twice-post')]);
  expect([refused.status, refused.body]).toMatchObject([409, { code: '40001', pointer: '/0' }]);
  expect((await batch(gateway, [put, put])).body).toEqual([
    { status: 200, body: 'done' },
    { status: 200, body: 'done' },
  ]);
});
