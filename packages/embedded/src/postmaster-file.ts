import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './embedded-error.ts';

/** What a running server writes about itself in `postmaster.pid`. */
export interface PostmasterFile {
  readonly pid: number;
  readonly ready: boolean;
}

/** Reads the file that PostgreSQL keeps in its data directory while it runs; undefined when there is none (or no id in it yet). */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  try {
    const lines = (await readFile(pathIn(cluster), 'utf8')).split('\n');
    const pid = Number(lines[0]);
    // The id is negative for a single-user session. The eighth line says "starting", "ready", "stopping".
    return Number.isInteger(pid) && pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready' } : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function removePostmasterFile(cluster: string): Promise<void> {
  await rm(pathIn(cluster), { force: true });
}

function pathIn(cluster: string): string {
  return join(cluster, 'postmaster.pid');
}
