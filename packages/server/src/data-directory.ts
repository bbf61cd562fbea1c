/** Where the embedded PostgreSQL keeps its data when the configuration does not say. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The configured folder, else `.pgway/postgres` in the working directory. PostgreSQL refuses to run as root, so for root it
 * runs as another user; where that user cannot get to the working directory, as in `/root`, the data go to
 * `/var/lib/pgway`, in a folder of the working directory's own.
 * @returns an absolute path
 */
export async function dataDirectoryFor(configured: string | null, workingDirectory: string): Promise<string> {
  if (configured !== null) return resolve(workingDirectory, configured);
  if (process.geteuid?.() !== 0 || (await isOpenToOthers(workingDirectory))) {
    return join(workingDirectory, '.pgway', 'postgres');
  }
  const mark = createHash('sha256').update(workingDirectory).digest('hex').slice(0, 12);
  return join('/var/lib/pgway', `${basename(workingDirectory) || 'root'}-${mark}`);
}

/** Whether every user may pass through the folder and all those above it. */
async function isOpenToOthers(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isOpenToOthers(dirname(folder));
}
