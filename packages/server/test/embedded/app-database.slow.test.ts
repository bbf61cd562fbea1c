import { readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openAppDatabase } from '../../src/embedded/app-database.ts';
import { writePsqlCommand } from '../../src/embedded/psql-command.ts';
import { ask, startServer } from '../support/postgres.ts';

const whoSql = `select current_database() as database, rolname, rolsuper, rolbypassrls, rolcreaterole, rolreplication
  from pg_roles where rolname = current_user`;

test('commands that start together create it once, and it keeps its objects', async () => {
  const { connectionString: superuser } = await startServer();

  const [first, second] = await Promise.all([openAppDatabase(superuser), openAppDatabase(superuser)]);

  expect(second).toBe(first);
  expect(await ask(first, whoSql)).toEqual([
    {
      database: 'app',
      rolname: 'app_owner',
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolreplication: false,
    },
  ]);
  await ask(first, 'create extension citext');
  await ask(first, `create table note (body citext)`);
  // Objects that a superuser adds to the database "postgres" later do not count.
  await ask(superuser, 'create extension pg_stat_statements');
  expect(await openAppDatabase(superuser)).toBe(first);
  expect(await ask(first, `select tableowner from pg_tables where tablename = 'note'`)).toEqual([
    { tableowner: 'app_owner' },
  ]);
});

test('what an earlier version has created stays as it is', async () => {
  const { connectionString: superuser } = await startServer();
  const databases = (): Promise<readonly unknown[]> =>
    ask(
      superuser,
      `select datname, datdba::regrole::text as owner from pg_database where not datistemplate order by 1`,
    );

  // Projects of earlier versions have their objects in this database.
  for (const [create, drop] of [
    ['create table note (body text)', 'drop table note'],
    [`create function hello() returns text language sql as $$ select 'Hello' $$`, 'drop function hello'],
    [`create type genre as enum ('fantasy')`, 'drop type genre'],
    ['select lo_create(20000)', 'select lo_unlink(20000)'],
  ] as const) {
    await ask(superuser, create);
    expect([create, await openAppDatabase(superuser)]).toEqual([create, superuser]);
    await ask(superuser, drop);
  }
  expect(await databases()).toEqual([{ datname: 'postgres', owner: 'postgres' }]);

  await ask(superuser, 'create database app');
  expect(await openAppDatabase(superuser)).toBe(superuser);
  expect(await databases()).toEqual([
    { datname: 'app', owner: 'postgres' },
    { datname: 'postgres', owner: 'postgres' },
  ]);
});

test.runIf(process.platform !== 'win32')('the password file is for its owner only, and psql finds it', async () => {
  const { connectionString: superuser, dataDirectory } = await startServer();
  const psql = await writePsqlCommand(await openAppDatabase(superuser), superuser, dataDirectory);
  const [, user, path] = /^psql "postgres:\/\/(\w+)@127\.0\.0\.1:\d+\/app\?passfile=([^"]+)"$/.exec(psql)!;
  const file = decodeURIComponent(path!);
  expect([user, (await stat(file)).mode & 0o777]).toEqual(['app_owner', 0o600]);
  expect(await readFile(file, 'utf8')).toBe(
    `*:*:*:app_owner:${new URL(await openAppDatabase(superuser)).password}\n*:*:*:postgres:${new URL(superuser).password}\n`,
  );
});
