import { crudSource } from '@pgway/core';
import { serverVersion, startGateway, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { readSessionEffects } from '../../src/catalog/session-effects.ts';
import { asLines, column, openDatabase, queryOf, requestOf, startEngine, subscribe } from './engine-support.ts';

/* Identities whose lookups share a transaction see their own rows only, whatever the functions of policies do. */

const database = useDatabase(`
  create publication pgway_changes;
  create table found (transaction xid8, owner text);
`);

interface Memo {
  readonly name: string;
  readonly rights?: 'security definer';
  /** The body of a function in PL/pgSQL that returns the user, and remembers it. */
  readonly body: string;
}

test.each<Memo>([
  {
    name: 'a setting of the transaction',
    body: `begin
      if coalesce(current_setting('app.memo', true), '') = '' then
        perform set_config('app.memo', current_setting('app.user'), true);
      end if;
      return current_setting('app.memo');
    end`,
  },
  {
    name: 'a setting of the session',
    body: `begin
      if coalesce(current_setting('app.memo', true), '') = '' then
        perform set_config('app.memo', current_setting('app.user'), false);
      end if;
      return current_setting('app.memo');
    end`,
  },
  {
    name: 'a setting of the transaction by SET LOCAL',
    body: `begin
      if coalesce(current_setting('app.memo', true), '') = '' then
        execute format('set local app.memo = %L', current_setting('app.user'));
      end if;
      return current_setting('app.memo');
    end`,
  },
  {
    name: 'a setting of the transaction with the rights of its owner',
    rights: 'security definer',
    body: `begin
      if coalesce(current_setting('app.memo', true), '') = '' then
        perform set_config('app.memo', current_setting('app.user'), true);
      end if;
      return current_setting('app.memo');
    end`,
  },
  {
    name: 'the setting of the caller',
    body: `begin
      if current_setting('app.team') = 'team' then
        perform set_config('app.team', current_setting('app.user'), true);
      end if;
      return current_setting('app.team');
    end`,
  },
  {
    name: 'a temporary table',
    body: `begin
      if to_regclass('pg_temp.memo') is null then
        create temp table memo on commit drop as select current_setting('app.user') as owner;
      end if;
      return (select m.owner from pg_temp.memo as m);
    end`,
  },
  {
    name: 'a table',
    body: `begin
      if not exists (select from found where transaction = pg_current_xact_id()) then
        insert into found values (pg_current_xact_id(), current_setting('app.user'));
      end if;
      return (select f.owner from found as f where f.transaction = pg_current_xact_id());
    end`,
  },
])('a policy that remembers its caller in $name shows no row to the next one', async ({ name, body, rights = '' }) => {
  const table = name.replaceAll(' ', '_').toLowerCase();
  await database.query(`
    create table ${table} (id integer primary key, owner text);
    alter publication pgway_changes add table ${table};
    create function user_of_${table}() returns text language plpgsql ${rights} as $$ ${body} $$`);
  const { engine } = await startEngine(database);
  // As when the function has changed since the endpoints were loaded: the query is said to alter nothing.
  const query = queryOf(table, [column('id', 'number'), column('owner', 'string')], {
    filter: `"r"."owner" = user_of_${table}()`,
  });
  const readerOf = (user: string) =>
    subscribe(
      engine,
      requestOf(query, {
        identity: {
          role: undefined,
          key: user,
          settings: [
            ['app.user', user],
            ['app.team', 'team'],
            ['app.memo', ''],
          ],
        },
      }),
    );
  const readers = { one: await readerOf('one'), two: await readerOf('two'), three: await readerOf('three') };
  const users = Object.keys(readers) as (keyof typeof readers)[];
  // The first lookup of each has a transaction of its own.
  for (let id = 1; id <= 9; id += users.length) {
    await database.query(
      `insert into ${table} values ${users.map((user, index) => `(${id + index}, '${user}')`).join(', ')}`,
    );
    for (const [index, user] of users.entries())
      await expect
        .poll(() => asLines(readers[user].messages).at(-1))
        .toBe(`insert {"id":${id + index},"owner":"${user}"}`);
  }
  for (const [index, user] of users.entries())
    expect(asLines(readers[user].messages)).toEqual([
      'begin',
      ...[1, 4, 7].map((id) => `insert {"id":${id + index},"owner":"${user}"}`),
    ]);
});

/** Nothing in the text of a view or policy names the functions of operators and casts. */
test.each([
  {
    what: 'an operator',
    define: `create operator === (leftarg = text, rightarg = text, function = remembers)`,
    function: `remembers(text, text) returns boolean language sql as
      $$ select set_config('app.seen', $1, true) is not null and $1 = $2 $$`,
    drop: 'drop operator === (text, text)',
  },
  ...['', ' as assignment', ' as implicit'].map((context) => ({
    what: `a cast${context}`,
    define: `create cast (xid8 as date) with function remembers(xid8)${context}`,
    function: `remembers(xid8) returns date language sql as
      $$ select set_config('app.seen', $1::text, true)::date $$`,
    drop: 'drop cast (xid8 as date)',
  })),
  {
    what: 'a cast whose function calls another one',
    define: `create function through(xid8) returns date language sql as 'select remembers($1)';
      create cast (xid8 as date) with function through(xid8)`,
    function: `remembers(xid8) returns date language sql as
      $$ select set_config('app.seen', $1::text, true)::date $$`,
    drop: 'drop cast (xid8 as date); drop function through',
  },
])('every relation may have the effects of a function behind $what', async ({ define, function: text, drop }) => {
  const own = openDatabase(database.connectionString, 1);
  onTestFinished(() => own.close());
  const effects = async () => (await readSessionEffects(own, () => undefined)).relation('public', 'found');
  expect(await effects()).toMatchObject({ alters: false, altersTransaction: false });
  await database.query(`create function ${text}`);
  // Without the operator or cast, only what names the function has its effects.
  expect(await effects()).toMatchObject({ alters: false, altersTransaction: false });
  await database.query(define);
  onTestFinished(async () => void (await database.query(`${drop}; drop function remembers`)));
  expect(await effects()).toMatchObject({ alters: false, altersTransaction: true });
});

/* A table has only functions that leave the transaction as it is, or one that alters it, on each way by which PostgreSQL reaches functions. */
const harmless = `select coalesce(current_setting('app.user', true), '') <> 'guest'`;
const bodyOf = (text: string, more = ''): string =>
  `returns boolean language plpgsql ${more} as $$ begin ${text}; return true; end $$`;
const bodies: Readonly<Record<string, string>> = {
  reads: `returns boolean language sql stable as $$ ${harmless} $$`,
  reads_as_definer: `returns boolean language sql stable security definer set search_path = pg_catalog as $$ ${harmless} $$`,
  sets_claims: bodyOf(`perform set_config('request.jwt.claims', '{"sub":"other"}', true)`),
  sets_role: bodyOf(`perform set_config('role', 'none', true)`),
  sets_role_locally: bodyOf('set local role none'),
  sets_locally: bodyOf(`set local app.name = 'other'`),
  sets_session: bodyOf(`perform set_config('app.user', 'other', false)`),
  sets_as_definer: bodyOf(
    `perform set_config('app.user', 'other', true)`,
    'security definer set search_path = pg_catalog',
  ),
  sets_by_text: bodyOf(`execute 'set local app.name = ' || quote_literal('other')`),
  sets_on_error: bodyOf(`begin perform 1 / 0; exception when others then set local app.name = 'other'; end`),
  keeps_in_table: bodyOf(`create temp table if not exists kept (name text) on commit drop`),
  writes: bodyOf(`insert into seen values ('x')`),
};
const policies = Object.entries(bodies).map(
  ([name, definition]) => `
    create function ${name}() ${definition};
    create table by_${name} (id integer primary key);
    alter table by_${name} enable row level security;
    create policy p on by_${name} using (${name}());
    -- Only a function calls it.
    create function calls_${name}() returns boolean language sql as 'select ${name}()';
    create table through_${name} (id integer primary key);
    alter table through_${name} enable row level security;
    create policy p on through_${name} using ((select calls_${name}()));`,
);
const hasInvokers = serverVersion() >= 15;
const others = ['reads', 'sets_claims'].map(
  (name) => `
    create table base_${name} (id integer primary key);
    ${hasInvokers ? `create view view_${name} with (security_invoker = true) as select id from base_${name} where ${name}();` : ''}
    create table default_${name} (id integer primary key, is_new boolean default ${name}());
    create table computed_${name} (id integer primary key);
    create function extra_${name}(computed_${name}) returns boolean language sql stable as 'select ${name}()';`,
);

test('lookups share transactions unless a function that PostgreSQL can reach from the rows alters its transaction', async () => {
  const tables = [
    ...Object.keys(bodies).flatMap((name) => [`by_${name}`, `through_${name}`]),
    ...['reads', 'sets_claims'].flatMap((name) => [
      ...(hasInvokers ? [`view_${name}`] : []),
      `default_${name}`,
      `computed_${name}`,
    ]),
  ];
  let requested = '';
  const altering: string[] = [];
  const gateway = await startGateway(
    `create table seen (name text);
    ${policies.join('')}${others.join('')}
    ${tables.map((table) => `comment on ${table.startsWith('view') ? 'view' : 'table'} ${table} is E'HTTP\\nchanges';`).join('\n')}`,
    {
      routineSources: [crudSource({ listing: true })],
      changes: {
        feed: {
          subscribe: ({ query }) => {
            requested = query.relation.name;
            if (query.altersTransaction) altering.push(requested);
            return Promise.reject(new Error('the feed is a test'));
          },
          watchTables: () => () => undefined,
          statistics: () => ({}) as never,
          close: () => Promise.resolve(),
        },
      },
    },
  );
  onTestFinished(() => gateway.close());
  for (const table of tables) {
    await gateway.send(`GET /api/${table.replaceAll('_', '-')}/changes`);
    expect(requested).toBe(table.replace('view', 'base'));
  }
  const reachesSetter = (table: string): boolean => !/_reads/.test(table) && !table.startsWith('computed');
  expect(altering).toEqual(tables.filter(reachesSetter).map((table) => table.replace('view', 'base')));
  // A stream of changes cannot select a computed column.
  const { status } = await gateway.send('GET /api/computed-sets-claims/changes?select=id,extra_sets_claims');
  expect([status, requested]).toEqual([400, tables.at(-1)]);
});
