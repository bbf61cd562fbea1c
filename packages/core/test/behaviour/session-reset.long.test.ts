import { createGateway, type Observation } from '@pgway/core';
import { pgbouncerVersion, startGateway, useGateway } from '@pgway/testing';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startBehindPgBouncer } from '../support/behind-pgbouncer.ts';

/* Nothing that a routine leaves in its session reaches another caller. One connection: the next call would find it. */

const bouncerVersion = await pgbouncerVersion();

const schema = `
  create table work (n int);
  insert into work values (1);

  create function leaves_role() returns text language sql volatile as $$ select set_config('role', 'pg_monitor', false) $$;
  create function leaves_setting() returns text language sql volatile as $$ select set_config('app.tenant', 'other', false) $$;
  create function leaves_search_path() returns void language plpgsql volatile as $$ begin set search_path = pg_temp, public; end $$;
  create function leaves_row_security() returns void language plpgsql volatile as $$ begin set row_security = off; end $$;
  create function leaves_timeout() returns void language plpgsql volatile as $$ begin set statement_timeout = 1; end $$;
  create function leaves_read_only() returns void language plpgsql volatile as $$ begin set default_transaction_read_only = on; end $$;
  create function leaves_bytea_output() returns void language plpgsql volatile as $$ begin set bytea_output = escape; end $$;
  create function leaves_digits() returns void language plpgsql volatile as $$ begin execute 'set extra_float_digits = -10'; end $$;
  create function leaves_lock() returns void language sql volatile as $$ select pg_advisory_lock(7) $$;
  create function leaves_listen() returns void language plpgsql volatile as $$ begin listen news; end $$;
  create function leaves_table() returns void language plpgsql volatile as $$ begin create temp table work as select 999 as n; end $$;
  create function leaves_cursor() returns void language plpgsql volatile as $$ begin
    execute 'declare held cursor with hold for select n from work'; end $$;
  create function leaves_statement() returns void language plpgsql volatile as $$ begin execute 'prepare mine as select 1'; end $$;
  create function leaves_statements_with_odd_names() returns void language plpgsql volatile as $$ begin
    execute 'prepare prepare as select 1'; execute 'prepare "all" as select 2'; execute 'prepare "a ""b''; x" as select 3';
    perform set_config('search_path', 'decoy, pg_catalog', false); end $$;
  create schema decoy;
  create function decoy.quote_ident(text) returns text language sql as $$ select 'nothing' $$;
  create function leaves_statement_of_a_caller(_sql text default 'prepare mine as select 1') returns void language plpgsql volatile as $$ begin
    execute _sql; end $$;
  create function leaves_statement_by_another() returns void language plpgsql volatile as $$ begin
    perform set_config('app.tenant', 'other', false); perform leaves_statement(); end $$;
  create procedure leaves_of_a_procedure() language plpgsql as $$ begin set app.tenant = 'other'; commit; set app.other = 'x'; end $$;
  create function fails_with_a_lock() returns void language plpgsql volatile as $$ begin
    perform pg_advisory_lock(7); raise exception 'no'; end $$;
  create function fails_with_a_statement() returns void language plpgsql volatile as $$ begin
    execute 'prepare mine as select 1'; raise exception 'no'; end $$;
  create procedure fails_in_a_procedure() language plpgsql as $$ begin
    execute 'prepare mine as select 1'; raise exception 'no'; end $$;
  create function at_commit() returns trigger language plpgsql as $$ begin
    execute 'prepare mine as select 1'; perform set_config('app.tenant', 'other', false); return null; end $$;
  create table deferring (n int);
  create constraint trigger at_commit after insert on deferring deferrable initially deferred for each row execute function at_commit();
  create function leaves_at_commit() returns void language sql volatile as 'insert into deferring values (1)';

  create function helper() returns text language sql volatile as $$ select set_config('app.tenant', 'other', false) $$;
  create function leaves_by_another() returns text language plpgsql volatile as $$ begin return helper(); end $$;
  create view tenants as select helper() as tenant;
  create function leaves_by_a_view() returns setof text language sql volatile as 'select tenant from tenants';
  create function on_write() returns trigger language plpgsql as $$ begin perform helper(); return new; end $$;
  create table audited (id int primary key);
  create trigger audit before insert on audited for each row execute function on_write();
  create function leaves_by_a_trigger() returns void language sql volatile as 'insert into audited values (1)';
  create function leaves_by_a_name(_fn text default 'helper') returns text language plpgsql volatile as $$ declare r text; begin
    execute format('select %I()', _fn) into r; return r; end $$;
  create table guarded (id int primary key);
  create function is_wanted() returns boolean language sql volatile as $$ select helper() is not null $$;
  create function pass_on() returns trigger language plpgsql as $$ begin return new; end $$;
  create trigger guard before insert on guarded for each row when (is_wanted()) execute function pass_on();
  create function leaves_by_a_condition() returns void language sql volatile as 'insert into guarded values (1)';
  create function is_fine(text) returns boolean language sql volatile as $$ select helper() is not null $$;
  create domain fine as text check (is_fine(value));
  create function leaves_by_a_domain() returns text language sql volatile as $$ select 'a'::fine $$;
  create function leaves_by_a_parameter(_x fine default 'a') returns text language sql volatile as $$ select 'a' $$;
  create function leaves_by_a_default(_x text default helper()) returns text language sql volatile as 'select _x';

  create function leaves_by_a_unicode_name() returns text language sql volatile as $$ select U&"\\0073et_config"('app.tenant', 'other', false) $$;
  create function leaves_by_ts_rewrite() returns tsquery language sql volatile as $$
    select ts_rewrite('a', 'select ''a''::tsquery, helper()::tsquery') $$;
  create function key_of(int) returns int language plpgsql immutable as $$ begin perform helper(); return $1; end $$;
  create table indexed (n int);
  create index on indexed (key_of(n));
  create function leaves_by_an_index() returns void language sql volatile as 'insert into indexed values (1)';
  create table parted (n int) partition by list (key_of(n));
  create table parted_1 partition of parted for values in (1);
  create function leaves_by_a_partition_key() returns void language sql volatile as 'insert into parted values (1)';
  create function leaves_by_a_result() returns fine language plpgsql volatile as $$ begin return 'a'; end $$;
  create type fine_pair as (a fine);
  create function leaves_by_a_field(_x fine_pair default '(a)') returns text language sql volatile as $$ select 'a' $$;

  create function found() returns json language sql volatile as $$ select json_build_object(
    'role', current_setting('role'), 'user', current_user = session_user, 'tenant', coalesce(current_setting('app.tenant', true), ''),
    'path', current_setting('search_path'), 'rls', current_setting('row_security'),
    'read_only', current_setting('default_transaction_read_only'),
    'bytea', current_setting('bytea_output'), 'digits', (1.1::float8 + 2.2)::text,
    'locks', (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
    'channels', (select count(*) from pg_listening_channels()), 'work', (select array_agg(n) from work),
    'cursors', (select count(*) from pg_cursors where is_holdable), 'statements', (select count(*) from pg_prepared_statements where from_sql)) $$;
  create function backend() returns int language sql volatile as 'select pg_backend_pid()';
`;

const clean = {
  role: 'none',
  user: true,
  tenant: '',
  path: '"$user", public',
  rls: 'on',
  read_only: 'off',
  bytea: 'hex',
  digits: '3.3000000000000003',
  locks: 0,
  channels: 0,
  work: [1],
  cursors: 0,
  statements: 0,
};

const leavers = [...schema.matchAll(/create (?:function|procedure) (leaves_\w+|fails_\w+)/g)].map(([, name]) => name!);
const pathOf = (name: string): string => `POST /api/${name.replaceAll('_', '-')}`;

describe('connectionReset: auto', () => {
  const gateway = useGateway(schema, { poolSize: 1, commentsMode: 'parseAll' });

  test.each(leavers)('%s', async (name) => {
    const before = (await gateway.send('POST /api/backend')).body;
    const { status } = await gateway.send(pathOf(name));
    expect(status).toBe(name.startsWith('fails') ? 400 : status === 204 ? 204 : 200);
    expect(JSON.parse((await gateway.send('POST /api/found')).body)).toEqual(clean);
    // The connection itself is as good as new.
    expect((await gateway.send('POST /api/backend')).body).toBe(before);
  });

  test('many callers at once: none sees what another has left, and statements are prepared again where they were dropped', async () => {
    const asked = Array.from({ length: 60 }, async (_, n) =>
      n % 3 === 0 ? gateway.send(pathOf(leavers[n % leavers.length]!)) : gateway.send('POST /api/found'),
    );
    const answers = (await Promise.all(asked)).filter((_, n) => n % 3 !== 0);
    for (const { status, body } of answers) expect([status, JSON.parse(body)]).toEqual([200, clean]);
  });

  test('a caller that leaves in the middle', async () => {
    const leaving = new AbortController();
    const lock = fetch(`${gateway.url}/api/leaves-lock`, { method: 'POST', signal: leaving.signal });
    leaving.abort();
    await lock.catch(() => undefined);
    expect(JSON.parse((await gateway.send('POST /api/found')).body)).toEqual(clean);
  });
});

test('a routine that its text does not show is found by what PostgreSQL reports, and its connection is reset from then on', async () => {
  const gateway = await startGateway(
    `create function leave(_statement text) returns void language plpgsql as $$ begin execute _statement; end $$;
     comment on function leave is 'HTTP
connection_reset off';
     create function zone() returns text language sql as $$ select current_setting('TimeZone') || ' ' || pg_backend_pid() $$;
     comment on function zone is 'HTTP';`,
    { poolSize: 1 },
  );
  onTestFinished(() => gateway.close());
  const body = { statement: `set timezone = 'Asia/Tokyo'` };
  const zone = async (): Promise<readonly string[]> => (await gateway.send('POST /api/zone')).body.split(' ');
  const [, first] = await zone();
  expect((await gateway.send('POST /api/leave', { body })).status).toBe(204);
  const [after, second] = await zone();
  expect([after, second === first]).toEqual(['UTC', false]);
  expect(gateway.observations.filter(({ kind }) => kind === 'setting-leaked')).toMatchObject([
    { endpoint: { name: 'leave' }, setting: 'TimeZone' },
  ]);
  expect((await gateway.send('POST /api/leave', { body })).status).toBe(204);
  expect(await zone()).toEqual(['UTC', second]);
  expect(gateway.observations.filter(({ kind }) => kind === 'setting-leaked')).toHaveLength(1);
});

test('connection_reset asks for a reset that the text of the routine does not call for', async () => {
  const gateway = await startGateway(
    `create function quiet() returns void language sql as ''; comment on function quiet is 'HTTP
connection_reset';
     create function prepared() returns text language sql as 'select max(prepare_time)::text from pg_prepared_statements';
     comment on function prepared is 'HTTP';`,
    { poolSize: 1 },
  );
  onTestFinished(() => gateway.close());
  const { endpoints } = gateway.gateway;
  expect(endpoints.find(({ name }) => name === 'quiet')).toMatchObject({ sessionEffects: { alters: true } });
  const prepared = async (): Promise<string> => (await gateway.send('POST /api/prepared')).body;
  await gateway.send('POST /api/quiet');
  const before = await prepared();
  expect(await prepared()).toBe(before);
  await gateway.send('POST /api/quiet');
  expect(await prepared()).not.toBe(before);
});

test('an operator that leaves something may stand anywhere: every call is followed by a reset', async () => {
  const gateway = await startGateway(
    `create function same(int, int) returns boolean language sql volatile as $$ select set_config('app.x', 'left', false) is not null $$;
     create operator === (leftarg = int, rightarg = int, function = same);
     create function compares() returns boolean language sql volatile as 'select 1 === 2';
     create function look() returns text language sql as $$ select coalesce(nullif(current_setting('app.x', true), ''), 'nothing') $$;`,
    { poolSize: 1, commentsMode: 'parseAll' },
  );
  onTestFinished(() => gateway.close());
  expect((await gateway.send('POST /api/compares')).body).toBe('true');
  expect((await gateway.send('POST /api/look')).body).toBe('nothing');
});

describe('a dynamic statement with values of the client', () => {
  const gateway = useGateway(
    `create table book (id int, title text);
     insert into book values (1, 'Dune');
     create function search(_order text) returns setof book language plpgsql stable as $$ begin
       return query execute 'select id, title from book order by ' || _order; end $$;
     create function search_by_variable(_order text) returns setof book language plpgsql stable as $$ declare q text; begin
       q = 'select id, title from book order by ' || _order; return query execute q; end $$;
     create function owner_of() returns text language plpgsql volatile as $$ begin
       return set_config('request.user_id', 'somebody', false); end $$;
     create view owners as select owner_of() as owner;
     create function read_view(_view text) returns text language plpgsql volatile as $$ declare r text; begin
       execute format('select owner from %I', _view) into r; return r; end $$;
     create function search_quoted(_order text) returns setof book language plpgsql stable as $$ begin
       return query execute 'select id, title from book order by ' || quote_ident(_order); end $$;
     create function found() returns text language sql stable as $$
       select concat_ws(' ', current_setting('search_path'), nullif(current_setting('request.user_id', true), ''), pg_backend_pid()) $$;
     comment on function search is 'HTTP GET'; comment on function search_by_variable is 'HTTP GET';
     comment on function read_view is 'HTTP GET'; comment on function search_quoted is 'HTTP GET';
     comment on function found is 'HTTP GET';`,
    { poolSize: 1 },
  );
  const injected = encodeURIComponent(
    `(select set_config('search_path', 'pg_temp', false) || set_config('request.user_id', 'somebody', false))`,
  );
  const found = async (): Promise<string> => (await gateway.send('GET /api/found')).body.replace(/ \d+$/, '');

  test.each([`search?order=${injected}`, `search-by-variable?order=${injected}`, 'read-view?view=owners'])(
    'GET /api/%s',
    async (path) => {
      expect(await found()).toBe('"$user", public');
      expect((await gateway.send(`GET /api/${path}`)).status).toBe(200);
      expect(await found()).toBe('"$user", public');
    },
  );

  test('quoted values need no reset: the connection keeps its prepared statements', async () => {
    expect((await gateway.send('GET /api/search-quoted?order=title')).body).toBe('[{"id":1,"title":"Dune"}]');
    const { endpoints } = gateway.gateway;
    expect(endpoints.find(({ name }) => name === 'search_quoted')?.sessionEffects).not.toMatchObject({ alters: true });
    expect(endpoints.find(({ name }) => name === 'search')?.sessionEffects).toMatchObject({ alters: true });
  });
});

test('a support function of an operator class can run anywhere, too', async () => {
  const gateway = await startGateway(
    `create type version as (n int);
     create function compare(version, version) returns int language plpgsql immutable as $$ begin
       perform set_config('app.x', 'left', false); return $1.n - $2.n; end $$;
     create function less(version, version) returns boolean language sql immutable as 'select $1.n < $2.n';
     create operator <<< (leftarg = version, rightarg = version, function = less);
     create function equal(version, version) returns boolean language sql immutable as 'select $1.n = $2.n';
     create operator === (leftarg = version, rightarg = version, function = equal);
     create operator class versions default for type version using btree as operator 1 <<<, operator 3 ===, function 1 compare(version, version);
     create function sorts() returns int language sql volatile as $$
       select v.n from unnest(array['(2)', '(1)']::version[]) v order by v limit 1 $$;
     create function look() returns text language sql as $$ select coalesce(nullif(current_setting('app.x', true), ''), 'nothing') $$;`,
    { poolSize: 1, commentsMode: 'parseAll' },
  );
  onTestFinished(() => gateway.close());
  expect((await gateway.send('POST /api/sorts')).body).toBe('1');
  expect((await gateway.send('POST /api/look')).body).toBe('nothing');
});

describe('lastval() and currval()', () => {
  const sql = `create table orders (id int generated by default as identity, note text);
    create function order_it() returns int language sql volatile as $$ insert into orders (note) values ('a') returning id $$;
    create function last_order() returns int language sql volatile as 'select lastval()::int';
    create function order_and_read() returns text language plpgsql volatile as $$ begin
      insert into orders (note) values ('b');
      return lastval() || ' ' || currval('orders_id_seq'); end $$;
    create procedure order_in_parts(inout id int default 0) language plpgsql as $$ begin
      insert into orders (note) values ('c'); commit; id := lastval(); end $$;`;
  const undefinedNumber = { status: 500, code: '55000' };

  test.each([
    ['a dedicated connection', {}],
    ['statements that are parsed for each call', { preparedStatements: false }],
  ])('%s: they never return the number of another caller, and the number of their own call', async (_, options) => {
    const gateway = await startGateway(sql, { poolSize: 1, commentsMode: 'parseAll', ...options });
    onTestFinished(() => gateway.close());
    expect((await gateway.send('POST /api/order-it')).body).toBe('1');
    const { status, body } = await gateway.send('POST /api/last-order');
    expect({ status, code: (JSON.parse(body) as { code: string }).code }).toEqual(undefinedNumber);
    expect((await gateway.send('POST /api/order-and-read')).body).toBe('2 2');
    expect((await gateway.send('POST /api/last-order')).status).toBe(500);
    const together = await Promise.all([1, 2, 3, 4].map(() => gateway.send('POST /api/order-and-read')));
    expect(together.map(({ body: text }) => text)).toEqual(['3 3', '4 4', '5 5', '6 6']);
  });

  test.skipIf(bouncerVersion === null)('behind PgBouncer in transaction mode', async () => {
    const send = await startBehindPgBouncer(sql);
    expect(await (await send('order-it')).text()).toBe('1');
    expect((await send('last-order')).status).toBe(500);
    expect(await (await send('order-and-read')).text()).toBe('2 2');
  });
});

test('while a migration holds locks, the start does not wait for it, and takes every routine for one that may leave something', async () => {
  const gateway = await startGateway(`create table book (id int); create view books as select * from book;
    create function one() returns int language sql as 'select 1'; comment on function one is 'HTTP';`);
  onTestFinished(() => gateway.close());
  const { connectionString } = gateway.database;
  const migration = new pg.Client(connectionString);
  await migration.connect();
  onTestFinished(() => migration.end());
  await migration.query('begin; lock table book in access exclusive mode');
  const observations: Observation[] = [];
  const meanwhile = await createGateway({ connectionString, observer: (one) => void observations.push(one) });
  onTestFinished(() => meanwhile.close());
  expect(meanwhile.endpoints).toMatchObject([{ name: 'one', sessionEffects: { alters: true, mayBlock: true } }]);
  expect(observations).toContainEqual(expect.objectContaining({ kind: 'start-warning', code: 'routines-not-read' }));
  await migration.query('rollback');
  await meanwhile.refresh();
  expect(meanwhile.endpoints[0]!.sessionEffects).toBeUndefined();
});

test('connectionReset: always resets after every call, and never leaves it to the author', async () => {
  const sql = `create function leave() returns text language sql as $$ select set_config('app.x', 'left', false) $$;
    create function look() returns text language sql as $$ select coalesce(nullif(current_setting('app.x', true), ''), 'nothing') $$;
    comment on function leave is 'HTTP
connection_reset off'; comment on function look is 'HTTP';`;
  const always = await startGateway(sql, { poolSize: 1, connectionReset: 'always' });
  onTestFinished(() => always.close());
  await always.send('POST /api/leave');
  expect((await always.send('POST /api/look')).body).toBe('nothing');
  const never = await startGateway(sql.replace('connection_reset off', ''), { poolSize: 1, connectionReset: 'never' });
  onTestFinished(() => never.close());
  await never.send('POST /api/leave');
  expect((await never.send('POST /api/look')).body).toBe('left');
});

describe.skipIf(bouncerVersion === null)('behind PgBouncer in transaction mode, on one server connection', () => {
  test('what a routine leaves is undone in its transaction, or after its rollback', async () => {
    const send = await startBehindPgBouncer(schema);
    const server = await (await send('backend')).text();
    for (const name of leavers) {
      const { status } = await send(pathOf(name).slice(10));
      const expected = name.startsWith('fails') ? [400] : name === 'leaves_of_a_procedure' ? [500] : [200, 204];
      expect([name, status, expected.includes(status)]).toEqual([name, status, true]);
      expect([name, await (await send('found')).json()]).toEqual([name, clean]);
    }
    expect(await (await send('backend')).text()).toBe(server);
  });
});
