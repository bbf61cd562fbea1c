import { crudSource } from '@pgway/core';
import { startGateway, useDatabase } from '@pgway/testing';
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
])('a policy that remembers its caller in $name shows no row to the next one', async ({ name, body }) => {
  const table = name.replaceAll(' ', '_');
  await database.query(`
    create table ${table} (id integer primary key, owner text);
    alter publication pgway_changes add table ${table};
    create function user_of_${table}() returns text language plpgsql as $$ ${body} $$`);
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

test('every relation may have the effects of a function behind an operator', async () => {
  const own = openDatabase(database.connectionString, 1);
  onTestFinished(() => own.close());
  const effects = async () => (await readSessionEffects(own, () => undefined)).relation('public', 'found');
  expect(await effects()).toMatchObject({ alters: false, altersTransaction: false });
  await database.query(`
    create function remembers(text, text) returns boolean language sql as
      $$ select set_config('app.seen', $1, true) is not null and $1 = $2 $$;
    create operator === (leftarg = text, rightarg = text, function = remembers)`);
  expect(await effects()).toMatchObject({ alters: false, altersTransaction: true });
});

test('the lookups of a table whose policy writes share no transaction', async () => {
  const altering: Record<string, boolean> = {};
  const gateway = await startGateway(
    `create table plain (id integer primary key);
    create table guarded (id integer primary key);
    comment on table plain is E'HTTP\\nchanges';
    comment on table guarded is E'HTTP\\nchanges';
    create table seen (name text);
    create function note() returns boolean language plpgsql as $$ begin insert into seen values ('x'); return true; end $$;
    alter table guarded enable row level security;
    create policy noted on guarded using (note())`,
    {
      routineSources: [crudSource({ listing: true })],
      changes: {
        feed: {
          subscribe: ({ query: { relation, altersTransaction } }) => {
            altering[relation.name] = altersTransaction;
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
  for (const name of ['plain', 'guarded']) await gateway.send(`GET /api/${name}/changes`);
  expect(altering).toEqual({ plain: false, guarded: true });
});
