import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The processors of servers, and of all else: the load, pgbench and the database. As `taskset --cpu-list` takes them. */
export interface Processors {
  readonly servers: string;
  readonly others: string;
}

/**
 * Returns the last processor for the servers, and the others for the rest.
 * @throws Error if there is only one
 */
export function divideProcessors(count: number = availableParallelism()): Processors {
  if (count < 2) throw new Error('--pinned needs two processors, one of them for the server');
  return { servers: String(count - 1), others: count === 2 ? '0' : `0-${count - 2}` };
}

/**
 * Keeps this process on the processors, and the processes that it starts from now on.
 * @throws Error without taskset
 */
export function stayOn(processors: string): void {
  const args = ['--all-tasks', '--pid', '--cpu-list', processors, String(process.pid)];
  const { error, status, stderr } = spawnSync('taskset', args, { encoding: 'utf8' });
  if (error !== undefined) throw new Error('--pinned needs taskset, which is part of util-linux', { cause: error });
  if (status !== 0) throw new Error(`taskset ${args.join(' ')} failed: ${stderr.trim()}`);
}
