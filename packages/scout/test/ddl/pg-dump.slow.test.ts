/** The copy of a database as `pg_dump` sees it, on the oldest version and on that of the installed `pg_dump`. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '@pgway/embedded';
import { packageOfMajor } from '@pgway/testing';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scout } from '../support/scout.ts';
import { schemaArbitrary } from '../support/random-schema.ts';

const run = promisify(execFile);
const installed = await run('pg_dump', ['--version']).then(
  ({ stdout }) => Number(/(\d+)\./.exec(stdout)?.[1] ?? 0),
  () => 0,
);
if (installed === 0) console.log('skipped: pg_dump is not installed');

const majors = ['13', '15'].filter((major) => Number(major) <= installed);

describe.each(majors)('PostgreSQL %s', (major) => {
  let directory: string;
  let server: Awaited<ReturnType<typeof startPostgres>>;

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'pgscout-')));
    const packageDirectory = (await packageOfMajor(major))!;
    server = await startPostgres({ dataDirectory: directory, durable: false, packageDirectory });
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function query(name: string, sql: string): Promise<void> {
    const client = new Client({ connectionString: urlOf(name) });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }

  const urlOf = (name: string): string => server.connectionString.replace(/\/[^/]*$/, `/${name}`);

  async function create(name: string, sql: string): Promise<void> {
    await query('postgres', `drop database if exists ${name}`);
    await query('postgres', `create database ${name} template template0`);
    await query(name, sql);
  }

  async function pgDump(name: string): Promise<string> {
    const { stdout } = await run('pg_dump', ['--schema-only', urlOf(name)], { maxBuffer: 1e8 });
    // Newer versions write a random key.
    return stdout.replaceAll(/^\\(un)?restrict .*$/gm, '');
  }

  /** Returns the dumps of the database and of its copy. */
  async function copyDatabase(sql: string): Promise<readonly [source: string, copy: string]> {
    await create('source', sql);
    const { code, stdout, stderr } = await scout(['--schema-dump', '-c', urlOf('source')]);
    expect([code, stderr]).toEqual([0, '']);
    await create('copy', stdout);
    return [await pgDump('source'), await pgDump('copy')];
  }

  test.each(['shop', 'hostile', 'extended', ...(Number(major) >= 14 ? ['cycles'] : [])])('schema %s', async (name) => {
    const sql = await readFile(join(import.meta.dirname, 'schemas', `${name}.sql`), 'utf8');
    const [source, copy] = await copyDatabase(sql);
    expect(copy).toBe(source);
  });

  test('random schemas', async () => {
    const property = fc.asyncProperty(schemaArbitrary, async (sql) => {
      const [source, copy] = await copyDatabase(sql);
      expect(copy).toBe(source);
    });
    // A smaller example would take minutes.
    await fc.assert(property, { numRuns: 8, endOnFailure: true });
  });
});
