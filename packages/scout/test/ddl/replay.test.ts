import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, serverVersion, type TestDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { change, database, difference } from '../support/changed-database.ts';
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
    'REVOKE EXECUTE ON FUNCTION public.similarity(text,text) FROM PUBLIC;',
    'GRANT EXECUTE ON FUNCTION public.word_similarity(text,text) TO pg_monitor;',
  ]);
  const copy = await database(script);
  expect(await dump(copy)).toBe(script);
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
