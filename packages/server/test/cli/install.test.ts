import { expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createDatabase, installIdempotency, installRealtime, installWatch, listen } from '../support/install.ts';
import { createTestProcess } from '../support/process-context.ts';

test('changes of routines, tables, types, comments, privileges and schemas notify the channel, and nothing else does', async () => {
  const database = await createDatabase(
    'create table book (id int primary key); create extension if not exists plpgsql',
  );
  const installed = await installWatch(database, '--yes');
  expect(installed).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^installed: changes of the database \w+ notify the channel reload, and every server that listens to it reloads its endpoints\n$/,
    ) as string,
    stderr: '',
  });
  const commands = await listen(database, 'reload');

  const changes = [
    'create function one() returns int language sql as $$ select 1 $$',
    'alter function one() stable',
    `comment on function one() is 'HTTP'`,
    'grant execute on function one() to public',
    'revoke execute on function one() from public',
    'create procedure two() language sql as $$ select 1 $$',
    'drop procedure two()',
    'alter table book add column title text',
    'alter table book drop column title',
    `comment on column book.id is 'the key'`,
    'create view books as select * from book',
    'create table copy as select * from book',
    'select * into another from book',
    'drop table copy, another',
    'drop view books',
    `create type color as enum ('red')`,
    `alter type color add value 'blue'`,
    'drop type color',
    'create domain age as int',
    'alter domain age set not null',
    'drop domain age',
    'create schema other',
    'alter schema other rename to renamed',
    'drop schema renamed',
    'alter table book rename to volume',
    'create function three() returns int language sql as $$ select 1 $$; drop function three()',
  ];
  const received: Record<string, readonly string[]> = {};
  for (const sql of changes) {
    received[sql] = await commands(sql);
  }
  expect(Object.values(received)).toEqual([
    ['CREATE FUNCTION'],
    ['ALTER FUNCTION'],
    ['COMMENT'],
    ['GRANT'],
    ['REVOKE'],
    ['CREATE PROCEDURE'],
    ['DROP PROCEDURE'],
    ['ALTER TABLE'],
    ['ALTER TABLE'],
    ['COMMENT'],
    ['CREATE VIEW'],
    ['CREATE TABLE AS'],
    ['SELECT INTO'],
    ['DROP TABLE'],
    ['DROP VIEW'],
    ['CREATE TYPE'],
    ['ALTER TYPE'],
    ['DROP TYPE'],
    ['CREATE DOMAIN'],
    ['ALTER DOMAIN'],
    ['DROP DOMAIN'],
    ['CREATE SCHEMA'],
    ['ALTER SCHEMA'],
    ['DROP SCHEMA'],
    ['ALTER TABLE'],
    ['CREATE FUNCTION', 'DROP FUNCTION'],
  ]);
  for (const sql of [
    'create temporary table scratch (id serial primary key)',
    'alter table scratch add column name text',
    'drop table scratch',
    'create temporary table scratch on commit drop as select 1 as id',
    'create index on volume (id)',
    'create sequence numbers',
    'create materialized view seen as select 1 as id; refresh materialized view seen; drop materialized view seen',
    'insert into volume values (1)',
    'vacuum volume',
  ]) {
    received[sql] = await commands(sql);
  }
  expect(Object.entries(received).slice(changes.length)).toEqual([
    ['create temporary table scratch (id serial primary key)', []],
    ['alter table scratch add column name text', []],
    ['drop table scratch', []],
    ['create temporary table scratch on commit drop as select 1 as id', []],
    ['create index on volume (id)', []],
    ['create sequence numbers', []],
    [
      'create materialized view seen as select 1 as id; refresh materialized view seen; drop materialized view seen',
      ['CREATE MATERIALIZED VIEW', 'DROP MATERIALIZED VIEW'],
    ],
    ['insert into volume values (1)', []],
    ['vacuum volume', []],
  ]);
});

const nowhere = 'postgres://nobody@127.0.0.1:1/x';
test.each([
  [
    { connectionString: nowhere, channel: null },
    ['--print'],
    /^pgway: gateway\.refreshOnNotify: missing; set it to the channel/,
  ],
  [
    { connectionString: nowhere, channel: 'x'.repeat(64) },
    ['--print'],
    /^pgway: gateway\.refreshOnNotify: must have 1 to 63 bytes and no NUL\n$/,
  ],
  [
    { connectionString: nowhere },
    ['--print', 'x'.repeat(64)],
    /^pgway: install watch: the schema: must have 1 to 63 bytes/,
  ],
  [
    { connectionString: nowhere },
    ['--print', 'a', 'b'],
    /^pgway: install watch: takes one schema, not 2; pass the configuration/,
  ],
  [{ connectionString: nowhere }, ['--print', '--yes'], /^pgway: --print and --yes: pass only one of them\n$/],
] as const)('%j with %j is refused', async (given, words, message) => {
  const { code, stdout, stderr } = await installWatch(given, ...words);

  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) as string });
});

test('the store of idempotency keys is installed for roles, twice, and removed', async () => {
  const database = await createDatabase();
  const configuration = { connectionString: database.connectionString, idempotency: { schema: 'odd "name"' } };
  const privileges = (): Promise<readonly unknown[]> =>
    database.query(`
      select p.proname as name, p.prosecdef as definer, p.proconfig as config, p.proacl::text ~ '(^{|,)=X' as public
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'odd "name"' order by 1`);

  const installed = await installIdempotency(configuration, '--yes', 'pg_monitor');
  expect(installed).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^installed: the database \w+ stores idempotency keys in the schema odd "name"\n$/,
    ) as string,
    stderr: '',
  });
  await installIdempotency(configuration, '--yes');
  expect(await privileges()).toEqual(
    [
      'claim_idempotency_key',
      'prune_idempotency_keys',
      'read_idempotent_rows',
      'save_idempotent_rows',
      'save_idempotent_settings',
    ].map((name) => ({ name, definer: true, config: ['search_path=pg_catalog, pg_temp'], public: false })),
  );

  const printed = await installIdempotency(configuration, '--print', 'pg_monitor');
  expect(printed.stdout).toMatch(
    /^begin;\n[^]*grant usage on schema "odd ""name""" to "pg_monitor";\n[^]*\ncommit;\n$/,
  );
  await database.query(printed.stdout);

  expect(await installIdempotency(configuration, '--yes', 'no_such_role')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^pgway: nothing was changed in the database \w+: role "no_such_role" does not exist \(42704\)\n$/,
    ) as string,
  });
  expect(await installIdempotency(configuration, '--uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect(await privileges()).toEqual([]);
});

test.each([
  [[], 'pgway: install: takes watch, idempotency, changes or realtime\n'],
  [['all'], 'pgway: install: takes watch, idempotency, changes or realtime, not "all"\n'],
])('install %j is refused', async (words, stderr) => {
  const process = createTestProcess(await folderWith({}));
  expect({ code: await run(['install', ...words], {}, process), ...process.text }).toEqual({
    code: 2,
    stdout: '',
    stderr,
  });
});

test('the table of broadcasts can be installed again, and keeps messages and policies', async () => {
  const database = await createDatabase();
  const installed = {
    code: 0,
    stdout: expect.stringMatching(
      /^installed: policies on realtime\.messages decide about the private channels of the database \w+\n$/,
    ) as string,
    stderr: '',
  };
  expect(await installRealtime(database, '--yes', 'pg_monitor')).toEqual(installed);
  await database.query(`
    create policy one on realtime.messages for select using (realtime.topic() = topic);
    select realtime.send('{}', 'x', 'room')`);
  expect(await installRealtime(database, '--yes')).toEqual(installed);
  const facts = (): Promise<unknown> =>
    database.query(`select (select count(*)::int from realtime.messages) as messages,
      (select count(*)::int from pg_policies where tablename = 'messages') as policies,
      (select string_agg(schemaname || '.' || tablename, ',') from pg_publication_tables where pubname = 'pgway_changes') as published,
      has_function_privilege('pg_monitor', 'realtime.read_messages(uuid[])', 'execute') as granted,
      has_function_privilege('pg_signal_backend', 'realtime.read_messages(uuid[])', 'execute') as others`);
  expect(await facts()).toEqual([
    { messages: 1, policies: 1, published: 'realtime.messages', granted: true, others: false },
  ]);
  const printed = await installRealtime(database, '--print', 'pg_monitor');
  await database.query(printed.stdout);
  expect(await facts()).toMatchObject([{ messages: 1, policies: 1 }]);
  expect(await installRealtime(database, '--uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect(await installRealtime(database, '--uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' });
  const left = await database.query(`select proname from pg_proc where pronamespace = 'realtime'::regnamespace`);
  expect(left).toEqual([]);
});
