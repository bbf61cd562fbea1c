/** The example database of the embedded PostgreSQL: created once, whole or not at all; its routines follow their file. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Client } from 'pg';
import { type AppliedRoutines, applyRoutines, isApplied } from './sql-files.ts';
import { runFile } from './run-file.ts';

const name = 'library';
/** Owns the example and nothing else: what is published to everybody must not run as a superuser. */
const owner = 'librarian';
// Only a complete example gets its name, so that a start that was killed half way leaves nothing that looks finished.
const draftName = 'library_unfinished';

/** The example as it is after `openExample`. */
export interface Example {
  /** As the role that owns the example. */
  readonly connectionString: string;
  /** `changed`: its routines were those of an older `api.sql`. */
  readonly state: 'created' | 'changed' | 'unchanged';
  /** A command that connects as the same role. */
  readonly psql: string;
}

/** The published package carries a copy; in a checkout there is only the original. */
function exampleFolder(): URL {
  const packaged = new URL('../../examples/library/', import.meta.url);
  return existsSync(packaged) ? packaged : new URL('../../../../examples/library/', import.meta.url);
}

/**
 * Creates the example database when it is not there yet, and applies `api.sql` when it has changed.
 * @param connectionString a superuser's connection to any database of the server
 * @param dataDirectory where the file with the owner's password is written, for psql
 * @throws ExampleError naming the file, and its line where PostgreSQL tells it
 */
export async function openExample(
  connectionString: string,
  dataDirectory: string,
  folder: URL = exampleFolder(),
): Promise<Example> {
  // A new one at every start: nobody has to keep it.
  const password = randomBytes(24).toString('hex');
  const address = (database: string): string => databaseUrl(connectionString, database, { user: owner, password });
  const state = await withClient(connectionString, async (client) => {
    await grantOwner(client, password);
    const applied = await appliedRoutines(client);
    if (applied === undefined) {
      await create(client, address(draftName), folder);
      return 'created';
    }
    const file = new URL('api.sql', folder);
    if (isApplied(applied, await readFile(file, 'utf8'))) return 'unchanged';
    await withClient(address(name), (own) => inTransaction(own, () => applyRoutines(own, file, applied)));
    return 'changed';
  });
  const passwordFile = await writePasswordFile(resolve(dataDirectory), password);
  return { connectionString: address(name), state, psql: psqlCommand(connectionString, passwordFile) };
}

async function create(client: Client, draft: string, folder: URL): Promise<void> {
  await client.query(`drop database if exists ${draftName}`);
  await client.query(`create database ${draftName} owner ${owner} encoding 'UTF8' template template0`);
  await withClient(draft, async (own) => {
    await inTransaction(own, async () => {
      await runFile(own, new URL('schema.sql', folder), 'the example database cannot be made');
      await runFile(own, new URL('data.sql', folder), 'the example database cannot be made');
    });
    await inTransaction(own, () => applyRoutines(own, new URL('api.sql', folder), null));
  });
  await client.query(`alter database ${draftName} rename to ${name}`);
}

/** What the example's comment tells of its routines: null when that is nothing, undefined when there is no example. */
async function appliedRoutines(client: Client): Promise<AppliedRoutines | null | undefined> {
  const { rows } = await client.query<{ comment: string | null }>(
    `select pg_catalog.shobj_description(oid, 'pg_database') as comment from pg_catalog.pg_database where datname = $1`,
    [name],
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  try {
    return JSON.parse(found.comment ?? 'null') as AppliedRoutines | null;
  } catch {
    // A comment of the user's.
    return null;
  }
}

/** The password is of hexadecimal digits only, and may stand in the statement, which takes no parameters. */
async function grantOwner(client: Client, password: string): Promise<void> {
  const found = await client.query('select from pg_catalog.pg_roles where rolname = $1', [owner]);
  if (found.rowCount === 0) await client.query(`create role ${owner} login`);
  await client.query(`alter role ${owner} password '${password}'`);
}

/** In libpq's own format, for its owner only: libpq ignores a file that others may read. */
async function writePasswordFile(dataDirectory: string, password: string): Promise<string> {
  const file = join(dataDirectory, 'pgpass');
  const draft = `${file}.unfinished-${randomBytes(8).toString('hex')}`;
  await writeFile(draft, `*:*:*:${owner}:${password}\n`, { flag: 'wx', mode: 0o600 });
  await rename(draft, file);
  return file;
}

function psqlCommand(connectionString: string, passwordFile: string): string {
  const { host } = new URL(connectionString);
  const path = passwordFile.split(sep).map(encodeURIComponent).join('/');
  // Between double quotes, in a shell too, there must be nothing that it reads.
  return `psql "postgres://${owner}@${host}/${name}?passfile=${path.replaceAll('!', '%21')}"`;
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

/** What throws within it is undone: the connection ends without a commit. */
async function inTransaction(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await work();
  await client.query('commit');
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
