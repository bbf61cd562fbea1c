/** The psql command that connects to the embedded PostgreSQL, and its password file. */
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';

/**
 * Writes the passwords of two connection strings, which have no character that a URL or the file would escape, to a file in the data
 * directory. Returns a psql command that uses the file for the first one; with the user `postgres` it connects as the superuser.
 */
export async function writePsqlCommand(
  connectionString: string,
  superuser: string,
  dataDirectory: string,
): Promise<string> {
  const lines = [connectionString, superuser].map((text) => {
    const { username, password } = new URL(text);
    return `*:*:*:${username}:${password}\n`;
  });
  const file = await writePasswordFile(resolve(dataDirectory), [...new Set(lines)].join(''));
  const { username, host, pathname } = new URL(connectionString);
  const path = file.split(sep).map(encodeURIComponent).join('/');
  // Shells expand `!` in double quotes.
  return `psql "postgres://${username}@${host}${pathname}?passfile=${path.replaceAll('!', '%21')}"`;
}

/** Writes a libpq password file; libpq ignores files that other users can read. */
async function writePasswordFile(dataDirectory: string, text: string): Promise<string> {
  const file = join(dataDirectory, 'pgpass');
  const unfinished = `${file}.unfinished-${randomBytes(8).toString('hex')}`;
  await writeFile(unfinished, text, { flag: 'wx', mode: 0o600 });
  await rename(unfinished, file);
  return file;
}
