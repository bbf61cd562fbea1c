/** The example database of the embedded PostgreSQL: created once, whole or not at all. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';

const name = 'library';
/** Owns the example and nothing else: what is published to everybody must not run as a superuser. */
const owner = 'librarian';
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
 * @returns a connection string to the example, as the role that owns it, and whether the example is new
 */
export async function createExample(connectionString: string): Promise<{ connectionString: string; created: boolean }> {
  // A new one at every start: nobody has to keep it.
  const password = randomBytes(24).toString('hex');
  const address = databaseUrl(connectionString, name, { user: owner, password });
  const created = await withClient(connectionString, async (client) => {
    await grantOwner(client, password);
    const found = await client.query('select from pg_catalog.pg_database where datname = $1', [name]);
    if (found.rowCount === 1) return false;
    await client.query(`drop database if exists ${draftName}`);
    await client.query(`create database ${draftName} owner ${owner} encoding 'UTF8' template template0`);
    await withClient(databaseUrl(connectionString, draftName, { user: owner, password }), fill);
    await client.query(`alter database ${draftName} rename to ${name}`);
    return true;
  });
  return { connectionString: address, created };
}

/** The password is of hexadecimal digits only, and may stand in the statement, which takes no parameters. */
async function grantOwner(client: Client, password: string): Promise<void> {
  const found = await client.query('select from pg_catalog.pg_roles where rolname = $1', [owner]);
  if (found.rowCount === 0) await client.query(`create role ${owner} login`);
  await client.query(`alter role ${owner} password '${password}'`);
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

interface Account {
  readonly user: string;
  readonly password: string;
}

function databaseUrl(connectionString: string, database: string, { user, password }: Account): string {
  const url = new URL(connectionString);
  url.pathname = `/${database}`;
  url.username = user;
  url.password = password;
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
