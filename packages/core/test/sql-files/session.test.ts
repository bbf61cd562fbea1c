import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';
import { startWithFiles } from './folder.ts';

/** Nothing that a file leaves in its session reaches the next caller, with one connection for all of them. */

const caller = `caller_${randomBytes(6).toString('hex')}`;
const other = `other_${randomBytes(6).toString('hex')}`;

const schema = `
  create role ${caller}; create role ${other};
  create table work (n int);
  insert into work values (1);
  grant select on work to ${caller}, ${other};
  create table secret (owner text);
  insert into secret values ('${caller}'), ('${other}');
  grant select on secret to ${caller}, ${other};
  alter table secret enable row level security;
  create policy own on secret using (owner = current_user);
  create function definer_sets() returns text language sql security definer as $$ select set_config('app.tenant', 'other', false) $$;
  create function definer_owner() returns text language sql security definer as 'select current_user::text';
  create function definer_path() returns void language plpgsql security definer as $$ begin
    execute 'set search_path = pg_temp, public'; execute 'set row_security = off'; end $$;
  create procedure set_and_lock() language plpgsql security definer as $$ begin perform pg_advisory_lock(8); set app.tenant = 'other'; end $$;
`;

/** Statements of files, each with the status of its response. */
const leavers: readonly (readonly [statements: string, status: number])[] = [
  // Settings, by each way to write one
  [`set app.tenant = 'other'`, 204],
  [`set session app.tenant = 'other'; select 1`, 200],
  [`select set_config('app.tenant', 'other', false)`, 200],
  [`update pg_settings set setting = 'escape' where name = 'bytea_output'`, 204],
  [`select set_config('search_path', 'pg_temp', false); select 1 as n`, 200],
  [`select set_config(n, 'role', false) from (values ('app.tenant')) v (n)`, 200],
  [`set search_path = pg_temp, public`, 204],
  [`set schema 'pg_catalog'`, 204],
  [`reset search_path`, 204],
  [`set local search_path = pg_temp; select current_setting('search_path')`, 200],
  [`set time zone 'Asia/Tokyo'`, 204],
  [`set row_security = off`, 204],
  [`set statement_timeout = 1`, 204],
  [`set extra_float_digits = -10`, 204],
  [`set default_transaction_read_only = on`, 204],
  [`set session characteristics as transaction isolation level serializable`, 204],
  [`set constraints all deferred`, 204],
  // The role
  [`do $$ begin set role ${other}; end $$`, 204],
  [`do $$ begin execute 'set local role ' || '${other}'; end $$; select current_user::text`, 200],
  [`do $$ begin reset role; end $$`, 204],
  [`do $$ begin execute 'set session authorization ${other}'; end $$`, 204],
  [`do $$ begin execute 'reset all'; end $$`, 204],
  [`select set_config('ro' || 'le', '${other}', false)`, 200],
  [`with c as (select set_config(n, '${other}', false) from (values ('ro' || 'le')) v (n)) select * from c`, 200],
  // Functions and procedures with the privileges of their owner
  [`select definer_sets()`, 200],
  [`select definer_path()`, 204],
  [`call set_and_lock()`, 204],
  // Locks, temporary objects, channels, prepared statements and cursors of the session
  [`select pg_advisory_lock(7)`, 204],
  [`select 1 as n; select pg_advisory_lock_shared(7)`, 200],
  [`select pg_advisory_lock(7), 1 / (n - 1) from work`, 400],
  [`create temp table work as select 999 as n`, 204],
  [`select 999 as n into temp work`, 204],
  [`create temp view work as select 999 as n`, 204],
  [`create function pg_temp.now() returns text language sql as 'select ''other'''`, 204],
  [`do $$ begin execute 'listen news'; end $$`, 204],
  [`do $$ begin execute 'prepare mine as select 1'; end $$`, 204],
  [`do $$ begin execute 'declare held cursor with hold for select 1'; end $$`, 204],
  [`load 'plpgsql'`, 403],
  [`do $$ begin execute 'discard temp'; end $$`, 204],
  [`do $$ begin execute 'discard plans'; end $$`, 204],
  [`do $$ begin execute 'deallocate all'; end $$`, 204],
  [`do $$ begin execute 'discard all'; end $$`, 500],
];

const found = `-- HTTP GET
-- single
select current_user::text as user, session_user = current_user as is_login, coalesce(current_setting('app.tenant', true), '') as tenant,
  current_setting('search_path') as path, current_setting('row_security') as rls, current_setting('TimeZone') as zone,
  current_setting('bytea_output') as bytea, (1.1::float8 + 2.2)::text as digits,
  current_setting('default_transaction_read_only') || ' ' || current_setting('transaction_isolation') as mode,
  (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
  (select count(*) from pg_listening_channels()) as channels, (select array_agg(n) from work) as work,
  (select count(*) from pg_cursors where is_holdable) as cursors, (select count(*) from pg_prepared_statements where from_sql) as statements,
  (select count(*) from pg_class where relnamespace = pg_my_temp_schema()) as temporary,
  (select array_agg(owner) from secret) as seen`;

test('the next caller finds the session as it was', async () => {
  const files = Object.fromEntries(leavers.map(([text], index) => [`leave_${index}.sql`, `-- HTTP POST\n${text}`]));
  const started = await startWithFiles(
    schema,
    { ...files, 'found.sql': found },
    { gateway: { poolSize: 1, authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role' } } } },
  );
  onTestFinished(async () => {
    await started.database.query(`drop owned by ${caller}, ${other}; drop role ${caller}; drop role ${other}`);
    await started.close();
  });
  const { send, gateway } = started;
  expect(gateway.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const find = async (role: string): Promise<unknown> =>
    JSON.parse((await send('GET /api/found', { headers: { 'x-role': role } })).body);
  const clean = [await find(caller), await find(other)];
  expect(clean).toMatchObject([
    { user: caller, isLogin: false, tenant: '', work: [1], locks: 0, temporary: 0, seen: [caller] },
    { user: other, isLogin: false, tenant: '', work: [1], locks: 0, temporary: 0, seen: [other] },
  ]);
  for (const [index, [text, status]] of leavers.entries()) {
    const left = await send(`POST /api/leave-${index}`, { headers: { 'x-role': caller } });
    expect([text, left.status, left.status === status ? '' : left.body]).toEqual([text, status, '']);
    expect([text, await find(other), await find(caller)]).toEqual([text, clean[1], clean[0]]);
  }
});
