/** The statements of `--diff` give one schema of a pair the catalog of the other, on three versions, and keep the rows. */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@pgway/embedded';
import { cases, freshDatabase, packageOfMajor, part } from '@pgway/testing';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { change, type Database, diff, runScript } from '../support/changed-database.ts';
import { schemaArbitrary } from '../support/random-schema.ts';
import { pairs } from './pairs.ts';

/** The message of a failure has the seed: `PGWAY_TEST_SEED` repeats its pairs, `PGWAY_TEST_PAIRS` sets their number. */
const randomPairs = {
  seed: Number(process.env['PGWAY_TEST_SEED'] ?? randomInt(2 ** 31)),
  numRuns: Number(process.env['PGWAY_TEST_PAIRS'] ?? cases(12)),
};

describe.each([13, 15, 18])('PostgreSQL %i', (major) => {
  let directory: string;
  let server: Awaited<ReturnType<typeof startPostgres>>;
  let count = 0;

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'pgscout-')));
    const packageDirectory = (await packageOfMajor(String(major)))!;
    server = await startPostgres({ dataDirectory: directory, durable: false, packageDirectory });
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function query(database: Database, sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: database.connectionString });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Runs the function with a database for each of the schemas, and drops the databases. */
  async function withDatabases(
    schemas: readonly string[],
    use: (...databases: readonly Database[]) => Promise<void>,
  ): Promise<void> {
    const names = schemas.map(() => `database_${count++}`);
    const databases = names.map((name) => ({
      connectionString: server.connectionString.replace(/\/[^/]*$/, `/${name}`),
    }));
    try {
      for (const [index, name] of names.entries()) {
        await query(server, `create database ${name} template template0`);
        await query(databases[index]!, schemas[index]!);
      }
      await use(...databases);
    } finally {
      for (const name of names) await query(server, `drop database if exists ${name}`);
    }
  }

  /** Returns the values of the ordinary columns of tables, by table and column. */
  async function readRows(database: Database): Promise<ReadonlyMap<string, readonly string[]>> {
    const columns = await query(
      database,
      `select format('%I.%I', n.nspname, c.relname) as table, quote_ident(a.attname) as column, pg_catalog.format_type(a.atttypid, a.atttypmod) as type
       from pg_attribute a join pg_type t on t.oid = a.atttypid and t.typtype <> 'c' join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema)' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''`,
    );
    const found = new Map<string, readonly string[]>();
    for (const { table, column, type } of columns) {
      const rows = await query(
        database,
        `select ${column as string}::text as value from only ${table as string} order by 1`,
      );
      found.set(
        `${table as string} ${column as string} ${type as string}`,
        rows.map(({ value }) => String(value)),
      );
    }
    return found;
  }

  /** Columns of the same type have the same values, except in tables whose changes are marked. */
  async function changeWithRows(current: Database, wanted: Database): Promise<void> {
    const { stdout } = await diff(current, wanted, '--json');
    const changes = JSON.parse(stdout === '' ? '[]' : stdout) as readonly {
      qualifiedName: string;
      losesData: boolean;
    }[];
    const marked = changes.filter(({ losesData }) => losesData).map(({ qualifiedName }) => `${qualifiedName} `);
    const before = await readRows(current);
    await change(current, wanted, major);
    const after = await readRows(current);
    for (const [column, values] of before) {
      if (marked.some((name) => column.startsWith(name)) || !after.has(column)) continue;
      expect([column, after.get(column)]).toEqual([column, values]);
    }
  }

  // `change` has the assertions.
  // oxlint-disable-next-line vitest/expect-expect
  test.each(part(pairs.filter(({ since = 0 }) => since <= major)))('$name', async ({ before, after, rows = '' }) => {
    await withDatabases([`${before};${rows}`, after, before], async (first, second, third) => {
      await changeWithRows(first!, second!);
      await changeWithRows(first!, third!);
    });
  });

  // oxlint-disable-next-line vitest/expect-expect
  test('random pairs of schemas', async () => {
    const property = fc.asyncProperty(schemaArbitrary, schemaArbitrary, async (before, after) => {
      await withDatabases([before, after], async (current, wanted) => changeWithRows(current!, wanted!));
    });
    // A smaller example would take minutes.
    await fc.assert(property, { ...randomPairs, endOnFailure: true });
  });

  test('a database of another version', async () => {
    const common = 'create table t (a int primary key, b text not null)';
    const role = `pgscout_${randomBytes(6).toString('hex')}`;
    const newest = await freshDatabase(`${common}; create role ${role}; grant select on t to ${role};
      create table n (a int, v int generated always as (a + 1) virtual)`);
    onTestFinished(async () => {
      await newest.query(`drop owned by ${role}; drop role ${role}`);
      await newest.drop();
    });
    await withDatabases(['create table t (a int)'], async (current) => {
      const { code, stdout } = await diff(current!, newest);
      expect(code).toBe(0);
      expect(stdout).toContain(`-- Note: the role ${role} does not exist on this server; create it first\n`);
      const fails = `-- FAILS IF the server is older than PostgreSQL 18: virtual generated columns\n`;
      expect(stdout.includes(fails)).toBe(major < 18);
      await newest.query(`drop table n; revoke all on t from ${role}`);
      await runScript(current!, (await diff(current!, newest, '--no-owner')).stdout);
      const again = await diff(current!, newest, '--no-owner');
      expect(again).toEqual({ code: 0, stdout: '', stderr: 'the schemas are equal\n' });
    });
  });

  test('a failed statement leaves the database as it was', async () => {
    await withDatabases(
      ['create table t (a int); insert into t values (1)', 'create table t (a int, b int not null)'],
      async (current, wanted) => {
        const { stdout } = await diff(current!, wanted!);
        expect(stdout).toContain('-- FAILS IF public.t has rows: the column has no default\n');
        await expect(runScript(current!, stdout)).rejects.toThrow('contains null values');
        expect((await diff(current!, wanted!)).stdout).toBe(stdout);
      },
    );
  });
});
