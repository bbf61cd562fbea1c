/** The example database of the embedded PostgreSQL: created atomically, and updated when `api.sql` changes. */
import { readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { exampleFolder } from './example-folder.ts';
import { ownerConnection, setUpOwner, withClient } from '../embedded/owned-database.ts';
import { type AppliedRoutines, applyRoutines, isApplied, runSqlFile } from './sql-files.ts';

const name = 'library';
const owner = 'librarian';
// A complete example is renamed, so that an interrupted start leaves no database that looks complete.
const unfinishedName = 'library_unfinished';

export interface ExampleDatabase {
  /** Connects as the role that owns the example. */
  readonly connectionString: string;
  /** `changed`: the routines came from an older `api.sql` and were replaced. */
  readonly state: 'created' | 'changed' | 'unchanged';
}

/**
 * Creates the example database unless it exists, and applies `api.sql` when it has changed.
 * @param connectionString of a superuser, to any database of the server
 * @throws ExampleError naming the file and, where known, the line
 */
export async function openExampleDatabase(
  connectionString: string,
  folder: URL = exampleFolder(),
): Promise<ExampleDatabase> {
  const urlOf = (database: string): string => ownerConnection(connectionString, { name: database, owner });
  const state = await withClient(connectionString, async (client) => {
    await setUpOwner(client, connectionString, owner);
    const applied = await readAppliedRoutines(client);
    if (applied === undefined) {
      await createDatabase(client, urlOf(unfinishedName), folder);
      return 'created';
    }
    const file = new URL('api.sql', folder);
    if (isApplied(applied, await readFile(file, 'utf8'))) return 'unchanged';
    await withClient(urlOf(name), (example) => inTransaction(example, () => applyRoutines(example, file, applied)));
    return 'changed';
  });
  return { connectionString: urlOf(name), state };
}

/**
 * Returns the connection string of the example database of a running server, whose routines stay as they are.
 * @param connectionString of a superuser, to any database of the server
 */
export function runningExampleDatabase(connectionString: string): string {
  return ownerConnection(connectionString, { name, owner });
}

async function createDatabase(client: Client, unfinishedUrl: string, folder: URL): Promise<void> {
  await client.query(`drop database if exists ${unfinishedName}`);
  await client.query(`create database ${unfinishedName} owner ${owner} encoding 'UTF8' template template0`);
  await withClient(unfinishedUrl, async (example) => {
    await inTransaction(example, async () => {
      await runSqlFile(example, new URL('schema.sql', folder), 'cannot create the example database');
      await runSqlFile(example, new URL('data.sql', folder), 'cannot create the example database');
    });
    await inTransaction(example, () => applyRoutines(example, new URL('api.sql', folder), null));
  });
  await client.query(`alter database ${unfinishedName} rename to ${name}`);
}

/** Reads the database comment: null for a comment without routines, undefined without an example database. */
async function readAppliedRoutines(client: Client): Promise<AppliedRoutines | null | undefined> {
  const { rows } = await client.query<{ comment: string | null }>(
    `select pg_catalog.shobj_description(oid, 'pg_database') as comment from pg_catalog.pg_database where datname = $1`,
    [name],
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  try {
    return JSON.parse(found.comment ?? 'null') as AppliedRoutines | null;
  } catch {
    // A user has changed the comment.
    return null;
  }
}

/** An error rolls back: the connection is closed without a commit. */
async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await work();
  await client.query('commit');
}
