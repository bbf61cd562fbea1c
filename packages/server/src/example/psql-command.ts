/** The psql command that connects to the embedded PostgreSQL, and its password file. */
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

export function passwordFilePath(dataDirectory: string): string {
  return join(dataDirectory, 'pgpass');
}

/**
 * Writes the password of a connection string, which has no character that a URL or the file would escape, to a file in the data directory.
 * Returns a psql command that uses it.
 */
export async function writePsqlCommand(connectionString: string, dataDirectory: string): Promise<string> {
  const { username, password, host, pathname } = new URL(connectionString);
  const file = await writePasswordFile(resolve(dataDirectory), `*:*:*:${username}:${password}\n`);
  const path = file.split(sep).map(encodeURIComponent).join('/');
  // Shells expand `!` in double quotes.
  return `psql "postgres://${username}@${host}${pathname}?passfile=${path.replaceAll('!', '%21')}"`;
}

/** Writes a libpq password file; libpq ignores files that other users can read. */
async function writePasswordFile(dataDirectory: string, text: string): Promise<string> {
  const file = passwordFilePath(dataDirectory);
  const unfinished = `${file}.unfinished-${randomBytes(8).toString('hex')}`;
  await writeFile(unfinished, text, { flag: 'wx', mode: 0o600 });
  await rename(unfinished, file);
  return file;
}
