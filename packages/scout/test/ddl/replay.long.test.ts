import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, serverVersion, type TestDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { change, database, difference } from '../support/changed-database.ts';
import { folderWith } from '../support/folder.ts';
import { fingerprint } from '../support/fingerprint.ts';
import { isPlain, scout } from '../support/scout.ts';

async function dump({ connectionString }: TestDatabase): Promise<string> {
  const { code, stdout, stderr } = await scout(['--schema-dump', '-c', connectionString]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** Returns the SQL of a schema. Its role belongs to the whole server: it has a name of its own, and is dropped. */
async function readSchema(name: string): Promise<string> {
  const text = await readFile(join(import.meta.dirname, 'schemas', `${name}.sql`), 'utf8');
  const role = `pgscout ${randomBytes(6).toString('hex')}`;
  if (!text.includes(placeholderRole)) return text;
  const server = await freshDatabase();
  onTestFinished(async () => {
    await server.query(`drop role "${role}"`);
    await server.drop();
  });
  return text.replaceAll(placeholderRole, role);
}

const placeholderRole = 'pgscout test role';

/** The schemas, and the first version with their syntax. */
const schemas = [
  ['shop', 13],
  ['hostile', 13],
  ['extended', 13],
  ['cycles', 14],
  ['newest', 18],
] as const;

test.each(schemas.filter(([, version]) => version <= serverVersion()))(
  'the definitions of the schema %s, replayed in an empty database, give the same catalog',
  async (name) => {
    const source = await database(await readSchema(name));
    const script = await dump(source);
    expect(isPlain(script)).toBe(true);
    const copy = await database(script);
    expect(await dump(copy)).toBe(script);
    // The query of the fingerprint needs PostgreSQL 14; `pg-dump.slow.test.ts` compares the older ones.
    const hasQuery = serverVersion() >= 14;
    expect(hasQuery ? difference(await fingerprint(source), await fingerprint(copy)) : []).toEqual([]);
  },
);

test('what plans an expression comes after what the bodies of its functions use, which pg_depend does not know', async () => {
  const source = await database(`
    create table zone (id int primary key, name text);
    create function z_last(_text text) returns text language sql immutable as 'select lower(_text)';
    create function a_first(_text text) returns text language sql immutable as 'select public.z_last(_text)';
    create function a_zone(_id int) returns text language sql immutable as 'select name from public.zone where id = _id';
    create table artist (
      id int primary key,
      name text,
      search text generated always as (a_first(name)) stored,
      exclude using btree (a_first(name) with =)
    );
    create index artist_zone on artist (a_zone(id));
    create index artist_named on artist (id) where a_first(name) <> '';
    create table part (id int, name text) partition by list (a_first(name));
    create table part_a partition of part for values in ('a');
    create index part_zone on part (a_zone(id));
  `);
  const script = await dump(source);
  const copy = await database(script);
  expect(await dump(copy)).toBe(script);
  expect(await copy.query(`select indexname from pg_indexes where tablename <> 'zone' order by 1`)).toEqual(
    await source.query(`select indexname from pg_indexes where tablename <> 'zone' order by 1`),
  );
  // Into an empty database, the changes are the same definitions.
  const empty = await database('');
  expect(await change(empty, source)).toContain('CREATE INDEX artist_zone');
});

test('equal keys of a table stay several, which one CREATE TABLE would merge', async () => {
  const source = await database(`
    create table a (id int primary key, code text not null, constraint code_one unique (code), other text);
    alter table a add constraint code_two unique (code);
    alter table a add constraint id_again unique (id);
    create table b (a_id int references a (id), code text references a (code));
  `);
  const script = await dump(source);
  const copy = await database(script);
  const keys = `select conname from pg_constraint where conrelid = 'public.a'::regclass and contype in ('p', 'u') order by 1`;
  expect(await copy.query(keys)).toEqual([
    { conname: 'a_pkey' },
    { conname: 'code_one' },
    { conname: 'code_two' },
    { conname: 'id_again' },
  ]);
  expect(await dump(copy)).toBe(script);
  await change(await database(''), source);
});

test.each([
  [
    'sequences of identity columns with another persistence than their table',
    15,
    `create table a (id int generated always as identity);
     alter sequence a_id_seq set unlogged;
     create unlogged table b (id int generated always as identity);
     alter sequence b_id_seq set logged;`,
  ],
  [
    'operator classes without members',
    13,
    `create operator family fam using btree;
     create operator class cla for type int4 using btree family fam as storage int4;`,
  ],
])('%s', async (_, version, sql) => {
  if (serverVersion() < version) return;
  const source = await database(sql);
  const copy = await database(await dump(source));
  expect(serverVersion() >= 14 ? difference(await fingerprint(source), await fingerprint(copy)) : []).toEqual([]);
  await change(await database(''), source);
});

test('the owner of public, which the database has created', async () => {
  const source = await database('alter schema public owner to current_user');
  const isDefault = serverVersion() < 15;
  expect((await dump(source)).includes('ALTER SCHEMA public OWNER TO')).toBe(!isDefault);
  const copy = await database(await dump(source));
  const owner = `select nspowner::regrole::text as owner from pg_namespace where nspname = 'public'`;
  expect(await copy.query(owner)).toEqual(await source.query(owner));
});

test('privileges on members of extensions, in a copy and in a second copy of it', async () => {
  const source = await database(`
    create extension pg_trgm;
    revoke execute on function similarity(text, text) from public;
    grant execute on function word_similarity(text, text) to pg_monitor;
  `);
  const script = await dump(source);
  expect(script.split('\n').filter((line) => /^(?:GRANT|REVOKE)/.test(line))).toEqual([
    'REVOKE EXECUTE ON FUNCTION public.similarity(text, text) FROM PUBLIC;',
    'GRANT EXECUTE ON FUNCTION public.word_similarity(text, text) TO pg_monitor;',
  ]);
  const copy = await database(script);
  expect(await dump(copy)).toBe(script);
});

test('privileges on objects of PostgreSQL, and on columns and other members of extensions', async () => {
  const source = await database(`
    create extension postgres_fdw;
    create extension pg_stat_statements;
    grant usage on foreign data wrapper postgres_fdw to pg_monitor;
    grant update (calls) on pg_stat_statements to pg_monitor;
    revoke execute on function pg_sleep(float8) from public;
    grant execute on function pg_read_file(text) to pg_monitor;
    revoke select on pg_settings from public;
    grant select (rolname, rolpassword) on pg_authid to pg_monitor;
    revoke usage on language plpgsql from public;
  `);
  const script = await dump(source);
  expect(script.split('\n').filter((line) => /^(?:GRANT|REVOKE)/.test(line))).toEqual([
    'GRANT UPDATE (calls) ON TABLE public.pg_stat_statements TO pg_monitor;',
    'GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO pg_monitor;',
    'GRANT EXECUTE ON FUNCTION pg_catalog.pg_read_file(text) TO pg_monitor;',
    'REVOKE EXECUTE ON FUNCTION pg_catalog.pg_sleep(double precision) FROM PUBLIC;',
    'REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC;',
    'GRANT SELECT (rolname) ON TABLE pg_catalog.pg_authid TO pg_monitor;',
    'GRANT SELECT (rolpassword) ON TABLE pg_catalog.pg_authid TO pg_monitor;',
    'REVOKE SELECT ON TABLE pg_catalog.pg_settings FROM PUBLIC;',
  ]);
  const copy = await database(script);
  expect(await dump(copy)).toBe(script);
  // A new database has none of its own.
  expect(await dump(await database(''))).not.toMatch(/^(?:GRANT|REVOKE|-- SCHEMA pg_catalog)/m);
});

test('what the user may not read is left out with a note, and not compared', async () => {
  const role = `pgscout_${randomBytes(6).toString('hex')}`;
  const source = await database(`
    create role ${role} login password 'secret';
    create table film (id int);
    alter default privileges grant select on tables to public;
    create extension pg_trgm;
    create extension postgres_fdw;
    create server other foreign data wrapper postgres_fdw;
    create user mapping for public server other options (user 'jane');
    revoke select on pg_default_acl, pg_init_privs from public;
  `);
  onTestFinished(() => source.query(`drop owned by ${role}; drop role ${role}`).then(() => {}));
  const url = new URL(source.connectionString);
  [url.username, url.password] = [role, 'secret'];
  const limited = url.toString();
  const omitted = [
    'default privileges',
    'privileges on public, on members of extensions and on objects of PostgreSQL',
    ...(serverVersion() < 14 ? ['subscriptions'] : []),
    'options of user mappings',
  ].map((text) => `${text} are left out: the user may not read them`);
  const { code, stdout, stderr } = await scout(['--schema-dump', '-c', limited]);
  expect([code, stderr]).toEqual([0, omitted.map((note) => `note: ${note}\n`).join('')]);
  expect(stdout).toContain(omitted.map((note) => `-- Note: ${note}\n\n`).join(''));
  expect(stdout).toContain('CREATE TABLE public.film');
  const folder = await folderWith();
  const tree = await scout(['--tree', 'schema', '-c', limited], { folder });
  expect([tree.code, tree.stderr.split('\n').slice(0, -2)]).toEqual([0, omitted.map((note) => `note: ${note}`)]);
  const compared = await scout(['--diff', source.connectionString, '-c', limited]);
  const notes = omitted.filter((note) => /^(?:default|options)/.test(note));
  expect(compared).toEqual({
    code: 0,
    stdout: '',
    stderr: `the schemas are equal otherwise\n${notes.map((note) => `note: ${note}\n`).join('')}`,
  });
});

test('a dropped column leaves no trace', async () => {
  const source = await database(
    'create table a (a int, b text, c int primary key, d int default 1); alter table a drop b',
  );
  await source.query(`comment on column a.d is 'the last one'`);
  const script = await dump(source);
  expect(script).toContain('a integer,\n    c integer NOT NULL,\n    d integer DEFAULT 1,\n');
  expect(await dump(await database(script))).toBe(script);
});

test('the states of triggers of partitions at each level', async () => {
  const schema = `
    create table p (a int, b int) partition by range (a);
    create table mid partition of p for values from (0) to (10) partition by range (b);
    create table leaf1 partition of mid for values from (0) to (10);
    create table leaf2 partition of mid for values from (10) to (20);
    create table other partition of p for values from (10) to (20);
    create function f() returns trigger language plpgsql as 'begin return new; end';
    create trigger one before insert on p for each row execute function f();
    create trigger two before insert on p for each row execute function f();
    create trigger three after insert on p for each row execute function f();
    create trigger four after insert on mid for each row execute function f();`;
  const source = await database(`${schema}
    alter table only mid disable trigger one;
    alter table only leaf1 enable trigger one;
    alter table only leaf2 disable trigger one;
    alter table only p disable trigger two;
    alter table only leaf1 enable always trigger two;
    alter table only leaf2 enable replica trigger three;
    alter table only mid disable trigger four;
    alter table only leaf2 disable trigger four;
  `);
  const copy = await database(await dump(source));
  const states = `select relname, tgname, tgenabled from pg_trigger t join pg_class c on c.oid = t.tgrelid order by 1, 2`;
  expect(await copy.query(states)).toEqual(await source.query(states));
  await change(await database(''), source);
  const plain = await database(schema);
  await change(plain, source);
  expect(await plain.query(states)).toEqual(await source.query(states));
  await change(plain, await database(schema));
});

test('generated columns of tables that inherit', async () => {
  const version = serverVersion();
  const source = await database(`
    create table p (a int, b int generated always as (a * 2) stored);
    create table same () inherits (p);
    create table local (a int, b int generated always as (a * 2) stored);
    alter table local inherit p;
    create table deeper () inherits (local);
    create table lone (a int, b int generated always as (a * 2) stored, c int);
    create table last (a int not null, c int default 5) inherits (lone);
    create table two () inherits (p, lone);
    ${
      version < 16
        ? ''
        : `create table own (b int generated always as (a * 3) stored) inherits (p);
           create table joined (a int, b int generated always as (a * 5) stored);
           alter table joined inherit p;`
    }
    ${version >= 16 ? '' : 'create table plain (a int, b int); create table turned (b int generated always as (a + 1) stored) inherits (plain);'}
    ${version < 18 ? '' : 'create table v (a int, b int generated always as (a * 2) virtual); create table w (b int generated always as (a * 4) virtual) inherits (v);'}
  `);
  const script = await dump(source);
  const copy = await database(script);
  expect(await dump(copy)).toBe(script);
  expect(version >= 14 ? difference(await fingerprint(source), await fingerprint(copy)) : []).toEqual([]);
  await change(await database(''), source);
});
