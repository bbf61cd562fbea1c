/** The example database of the embedded PostgreSQL: created once, whole or not at all. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';

const name = 'library';
// Only a complete example gets its name, so that a start that was killed half way leaves nothing that looks finished.
const draftName = 'library_unfinished';
const files = ['schema.sql', 'data.sql', 'api.sql'] as const;

/** The example cannot be made; the message names the file. */
export class ExampleError extends Error {
  override readonly name = 'ExampleError';
}

/** The published package carries a copy; in a checkout there is only the original. */
function exampleFolder(): URL {
  const packaged = new URL('../examples/library/', import.meta.url);
  return existsSync(packaged) ? packaged : new URL('../../../examples/library/', import.meta.url);
}

/**
 * Creates the example database when it is not there yet.
 * @param connectionString a superuser's connection to any database of the server
 * @returns a connection string to the example, and whether it is new
 */
export async function createExample(connectionString: string): Promise<{ connectionString: string; created: boolean }> {
  const address = databaseUrl(connectionString, name);
  const created = await withClient(connectionString, async (client) => {
    const found = await client.query('select from pg_catalog.pg_database where datname = $1', [name]);
    if (found.rowCount === 1) return false;
    await client.query(`drop database if exists ${draftName}`);
    await client.query(`create database ${draftName} encoding 'UTF8' template template0`);
    await withClient(databaseUrl(connectionString, draftName), fill);
    await client.query(`alter database ${draftName} rename to ${name}`);
    return true;
  });
  return { connectionString: address, created };
}

async function fill(client: Client): Promise<void> {
  const folder = exampleFolder();
  await client.query('begin');
  for (const file of files) {
    const text = await readFile(new URL(file, folder), 'utf8');
    try {
      await client.query(text);
    } catch (error) {
      const reason = `the example database cannot be made: ${file}: ${(error as Error).message}`;
      throw new ExampleError(`${reason}; start with --embedded.example=false to go without it`, { cause: error });
    }
  }
  await client.query('commit');
}

function databaseUrl(connectionString: string, database: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${database}`;
  return url.href;
}

async function withClient<Result>(
  connectionString: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
