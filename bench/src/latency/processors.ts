import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isInstalled } from '../run-program.ts';

/** Lists of processors as `taskset --cpu-list` takes them: `0-2,5`. */
export interface Processors {
  readonly servers: string;
  /** Of the load, pgbench and the database. */
  readonly others: string;
  /** Of this process before. */
  readonly all: string;
}

/** Returns the processors that this process may use; null where the system does not tell. */
export function readProcessors(): string | null {
  try {
    return /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Whether a server can have a processor for itself. */
export function canDivideProcessors(): boolean {
  const all = readProcessors();
  return all !== null && parseList(all).length > 1 && isInstalled('taskset');
}

/**
 * Returns the last processor for the servers, and the others for the rest.
 * @throws Error if there is only one
 */
export function divideProcessors(all: string | null): Processors {
  const numbers = parseList(all ?? '');
  const last = numbers.pop();
  if (all === null || last === undefined || numbers.length === 0)
    throw new Error('--pinned needs Linux, and two processors, one of them for the server');
  return { servers: String(last), others: numbers.join(), all };
}

/** Returns the numbers of a list of numbers and ranges. */
function parseList(list: string): number[] {
  return list
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number) as [number, number?];
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}

/**
 * Restricts this process to the processors, and the processes that it starts from now on.
 * @throws Error without taskset
 */
export function setCpuAffinity(processors: string): void {
  const args = ['--all-tasks', '--pid', '--cpu-list', processors, String(process.pid)];
  const { error, status, stderr } = spawnSync('taskset', args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error('--pinned needs taskset, which is part of util-linux', { cause: error });
  if (status !== 0) throw new Error(`taskset ${args.join(' ')} failed: ${stderr.trim()}`);
}
