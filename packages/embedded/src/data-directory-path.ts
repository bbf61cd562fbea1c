/** Where the data of a folder's database is. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * Returns the absolute path of the configured folder, or of `.pgway/postgres` in the working directory. For root, PostgreSQL runs
 * as another user; if that user has no access to the working directory, as in `/root`, the path is a folder in `/var/lib/pgway`.
 */
export async function resolveDataDirectory(configured: string | null, workingDirectory: string): Promise<string> {
  if (configured !== null) return resolve(workingDirectory, configured);
  if (process.geteuid?.() !== 0 || (await isOpenToOthers(workingDirectory))) {
    return join(workingDirectory, '.pgway', 'postgres');
  }
  const hash = createHash('sha256').update(workingDirectory).digest('hex').slice(0, 12);
  return join('/var/lib/pgway', `${basename(workingDirectory) || 'root'}-${hash}`);
}

/** Whether every user has execute permission on the folder and all folders above it. */
async function isOpenToOthers(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpenToOthers(dirname(folder));
}
