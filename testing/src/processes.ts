import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * Returns the processes whose working directory is in the directory, or whose command line contains it: PostgreSQL, its
 * workers, the watchdog. Returns none on systems other than Linux.
 */
export async function processesOn(directory: string): Promise<readonly RunningProcess[]> {
  const matches = await Promise.all(
    (await readdir('/proc').catch(() => []))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const command = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
        const isInside = (await readlink(`/proc/${name}/cwd`).catch(() => '')).startsWith(directory);
        return isInside || command.includes(directory) ? [{ pid: Number(name), command }] : [];
      }),
  );
  return matches.flat();
}

/** Calls the function until it returns an empty array, for a minute at most. Returns the last result. */
export async function untilNone<T>(list: () => Promise<readonly T[]>): Promise<readonly T[]> {
  const deadline = performance.now() + 60_000;
  let result = await list();
  while (result.length > 0 && performance.now() < deadline) {
    await delay(20);
    result = await list();
  }
  return result;
}

/** Returns the uid of the user that the process runs as. */
export async function userOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'uid=', '-p', String(pid)]);
  return Number(stdout);
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
