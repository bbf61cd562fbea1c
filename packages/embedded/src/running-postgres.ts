/** Finds the server that another process has started on a data directory. */
import { realpath } from 'node:fs/promises';
import { Client } from 'pg';
import { readPassword, SUPERUSER } from './cluster.ts';
import { directoryPaths } from './data-directory.ts';
import { isServerOf } from './orphan.ts';
import { errorCode } from './postgres-server-error.ts';
import { readPostmasterPid } from './server-process.ts';

/**
 * Returns the connection string of a superuser, `postgres://postgres:<password>@127.0.0.1:<port>/postgres`, of the server that runs on
 * a data directory of {@link startPostgres}; null when none does. The process that has started the server stops it.
 *
 * @throws {PostgresServerError} when the password file is missing or belongs to another user
 */
export async function findRunningPostgres(dataDirectory: string): Promise<string | null> {
  const root = await realpath(dataDirectory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (root === null) return null;
  const directory = directoryPaths(root);
  const file = await readPostmasterPid(directory.cluster);
  if (file?.ready !== true || file.port === undefined) return null;
  // The file of a killed server stays. Another program may have its port, and must not get the password.
  if (!(await isServerOf(file.pid, directory.cluster))) return null;
  const password = await readPassword(directory);
  const connectionString = `postgres://${SUPERUSER}:${password}@127.0.0.1:${file.port}/postgres`;
  return (await accepts(connectionString)) ? connectionString : null;
}

/** The server may be stopping. */
async function accepts(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
