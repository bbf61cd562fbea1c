import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Seen {
  readonly pid: number;
  readonly command: string;
}

/**
 * Every process that works in the folder or names it on its command line: server, its workers, watchdog. Only Linux can be
 * asked; none elsewhere.
 */
export async function processesOn(directory: string): Promise<readonly Seen[]> {
  const seen = await Promise.all(
    (await readdir('/proc').catch(() => []))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const command = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim();
        const works = (await readlink(`/proc/${name}/cwd`).catch(() => '')).startsWith(directory);
        return works || command.includes(directory) ? [{ pid: Number(name), command }] : [];
      }),
  );
  return seen.flat();
}

/** Waits until the answer is empty, at most ten seconds; gives the last answer. */
export async function untilNone<T>(ask: () => Promise<readonly T[]>): Promise<readonly T[]> {
  const deadline = performance.now() + 10_000;
  let answer = await ask();
  while (answer.length > 0 && performance.now() < deadline) {
    await delay(20);
    answer = await ask();
  }
  return answer;
}

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
