import { createGateway, type Observation } from '@pgway/core';
import { pgbouncerVersion, startPgBouncer, startGateway, useGateway } from '@pgway/testing';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

/* Nothing that a routine leaves in its session reaches another caller. One connection: the next call would find it. */

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
  create procedure leaves_of_a_procedure() language plpgsql as $$ begin set app.tenant = 'other'; commit; set app.other = 'x'; end $$;
  create function fails_with_a_lock() returns void language plpgsql volatile as $$ begin
    perform pg_advisory_lock(7); raise exception 'no'; end $$;

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

describe.skipIf((await pgbouncerVersion()) === null)(
  'behind PgBouncer in transaction mode, on one server connection',
  () => {
    test('what a routine leaves is undone in its transaction', async () => {
      const direct = await startGateway(schema, { poolSize: 1, commentsMode: 'parseAll' });
      onTestFinished(() => direct.close());
      const bouncer = await startPgBouncer(direct.database.connectionString, { mode: 'transaction', size: 1 });
      onTestFinished(() => bouncer.stop());
      const gateway = await createGateway({
        connectionString: bouncer.connectionString,
        pooler: 'transaction',
        preparedStatements: false,
        commentsMode: 'parseAll',
      });
      onTestFinished(() => gateway.close());
      const send = async (name: string): Promise<Response> =>
        (await gateway.fetch(new Request(`http://x${pathOf(name).slice(5)}`, { method: 'POST' })))!;
      // A lock of the session outlives a transaction that fails, and only PostgreSQL's own DISCARD reaches prepared statements.
      for (const name of leavers.filter(
        (one) => !['fails_with_a_lock', 'leaves_statement', 'leaves_of_a_procedure'].includes(one),
      )) {
        // oxlint-disable-next-line no-await-in-loop
        expect([name, [200, 204].includes((await send(name)).status)]).toEqual([name, true]);
        // oxlint-disable-next-line no-await-in-loop
        expect([name, await (await send('found')).json()]).toEqual([
          name,
          { ...clean, statements: expect.any(Number) },
        ]);
      }
    });
  },
);
