import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { runProgram } from './program.ts';

/*
 * A process id alone names nobody: ids are given out again after a crash, and inside a container nearly every process
 * has the same small number at every start.
 */

/** Tells the process with this id from every other that has or had the id; undefined when there is none. Not for Windows. */
export async function birthOf(pid: number): Promise<string | undefined> {
  if (!signalReaches(pid)) return undefined;
  if (process.platform !== 'linux') return ask(['-o', 'lstart=', '-p', String(pid)]);
  const line = await readOrNothing(`/proc/${String(pid)}/stat`);
  // The name of the program stands in parentheses and may hold anything, parentheses too.
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z') return undefined;
  const boot = (await readOrNothing('/proc/sys/kernel/random/boot_id'))?.trim();
  return `${boot ?? ''} ${fields[19] ?? ''}`;
}

/** The command line of a process, words parted by blanks; empty for a dead one not yet buried, undefined when not told. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  switch (process.platform) {
    case 'linux':
      return (await readOrNothing(`/proc/${String(pid)}/cmdline`))?.replaceAll('\0', ' ').trim();
    case 'win32':
      return windowsCommandLine(pid);
    default:
      return ask(['-ww', '-o', 'command=', '-p', String(pid)]);
  }
}

/** Whether a signal would reach a process of this id, ours or not. */
export function signalReaches(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Sends a signal; a process that is gone already is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Waits until the condition holds, at most `limit` milliseconds; tells whether it does. */
export async function eventually(condition: () => boolean | Promise<boolean>, limit: number): Promise<boolean> {
  const deadline = performance.now() + limit;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(10);
  }
  return true;
}

async function ask(args: readonly string[]): Promise<string | undefined> {
  const { code, output } = await runProgram('ps', args, { account: undefined, directory: '/' });
  return code === 0 ? output.trim() : undefined;
}

async function windowsCommandLine(pid: number): Promise<string | undefined> {
  const query = `(Get-CimInstance Win32_Process -Filter 'ProcessId=${String(pid)}').CommandLine`;
  const { code, output } = await runProgram('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', query], {
    account: undefined,
    directory: process.cwd(),
  });
  return code === 0 ? output.trim() : undefined;
}

async function readOrNothing(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
