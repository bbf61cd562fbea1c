/** The example databases have no findings, except those that are ignored here with their reason. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freshDatabase, type TestDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { type Outcome, scout } from '../support/scout.ts';

const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url));
const read = (file: string): string => readFileSync(`${examples}${file}`, 'utf8');

async function advise(
  database: TestDatabase,
  argv: readonly string[],
  files: Readonly<Record<string, unknown>>,
): Promise<Outcome> {
  return scout(['--advise', '-c', database.connectionString, ...argv], { folder: await folderWith(files) });
}

test('the library', async () => {
  const scripts = ['schema', 'data', 'api'].map((name) => read(`library/${name}.sql`));
  // Before PostgreSQL 15, every role may create objects in the schema of a new database.
  const database = await freshDatabase(['revoke create on schema public from public;', ...scripts].join('\n'));
  try {
    const { stdout, stderr, code } = await advise(database, ['--exit-code'], {});
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/\nno findings\n$/);
  } finally {
    await database.drop();
  }
});

test('the expenses, for the roles of their callers', async () => {
  const prefix = `advised_${randomBytes(6).toString('hex')}`;
  const rename = (text: string): string => text.replaceAll('expenses_', `${prefix}_`);
  const scripts = readdirSync(`${examples}expenses/database`).toSorted();
  const database = await freshDatabase();
  try {
    for (const script of scripts) await database.query(rename(read(`expenses/database/${script}`)));
    const roles = ['anonymous', 'member', 'approver'].map((name) => `${prefix}_${name}`).join(';');
    const settings = { 'pgscout.json': read('expenses/pgscout.json') };
    const { stdout, stderr, code } = await advise(database, ['--role', roles, '--exit-code'], settings);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/\nno findings, 1 ignored\n$/);
  } finally {
    const names = ['anonymous', 'approver', 'member', 'gateway', 'owner'].map((name) => `${prefix}_${name}`);
    await database.query(`drop owned by ${names.join(', ')}; drop role ${names.join(', ')}`);
    await database.drop();
  }
});
