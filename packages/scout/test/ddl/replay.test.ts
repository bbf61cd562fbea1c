import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, serverVersion, type TestDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { database, difference } from '../support/changed-database.ts';
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

test('a dropped column leaves no trace', async () => {
  const source = await database(
    'create table a (a int, b text, c int primary key, d int default 1); alter table a drop b',
  );
  await source.query(`comment on column a.d is 'the last one'`);
  const script = await dump(source);
  expect(script).toContain('a integer,\n    c integer NOT NULL,\n    d integer DEFAULT 1,\n');
  expect(await dump(await database(script))).toBe(script);
});
