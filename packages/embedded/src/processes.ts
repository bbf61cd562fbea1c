/** Running programs, and telling processes apart. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './postgres-server-error.ts';

/** A user of the operating system. */
export interface OsUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

export interface RunOptions {
  /** Undefined: the user of this process. */
  readonly user: OsUser | undefined;
  /** The working directory. */
  readonly directory: string;
}

export interface ProgramResult {
  /** The exit code; undefined when the program did not start, or was killed by a signal. */
  readonly code: number | undefined;
  /** Standard output and standard error, at most the last 64 kB. */
  readonly output: string;
}

const OUTPUT_LIMIT = 65_536;

/** Runs a program and resolves when it has exited. Never rejects. */
export function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...spawnOptions(options), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_LIMIT);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => resolve({ code: undefined, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? undefined, output }));
  });
}

/** Options of `child_process.spawn` for every program: user, working directory and a minimal environment. */
export function spawnOptions({ user, directory }: RunOptions): {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly windowsHide: true;
  readonly uid?: number;
  readonly gid?: number;
} {
  return {
    cwd: directory,
    env: minimalEnvironment(),
    windowsHide: true,
    // Node expects signed numbers; ids above 2^31 exist on macOS.
    ...(user === undefined ? {} : { uid: user.uid | 0, gid: user.gid | 0 }),
  };
}

/** Keeps secrets of this process from PostgreSQL, and PGPORT, PGDATA and locale settings from changing how it runs. */
function minimalEnvironment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') {
    return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/i.test(name)));
  }
  const { PATH = '/usr/local/bin:/usr/bin:/bin', TZ } = process.env;
  return { PATH, LC_ALL: 'C', ...(TZ === undefined ? {} : { TZ }) };
}

/**
 * Returns a text that differs for two processes with the same id, because the system reuses ids; undefined when no process
 * has the id. Not for Windows.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (!processExists(pid)) return undefined;
  if (process.platform !== 'linux') return ps(['-o', 'lstart=', '-p', String(pid)]);
  const line = await readIfReadable(`/proc/${String(pid)}/stat`);
  // proc(5): the second field is the program's name in parentheses, which may contain parentheses and spaces.
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields[0] === 'Z') return undefined;
  const boot = (await readIfReadable('/proc/sys/kernel/random/boot_id'))?.trim();
  // The start time is counted from boot.
  return `${boot ?? ''} ${fields[19] ?? ''}`;
}

/** Returns the command line of a process, its arguments joined by spaces; empty for a zombie, undefined when unknown. */
export async function commandLine(pid: number): Promise<string | undefined> {
  switch (process.platform) {
    case 'linux':
      return (await readIfReadable(`/proc/${String(pid)}/cmdline`))?.replaceAll('\0', ' ').trim();
    case 'win32':
      return windowsCommandLine(pid);
    default:
      return ps(['-ww', '-o', 'command=', '-p', String(pid)]);
  }
}

/** Tells whether a process has this id, of any user. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Sends a signal to a process, unless it has exited. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** Polls the condition until it holds. Returns false when `timeoutMs` is over. */
export async function waitFor(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await delay(10);
  }
  return true;
}

async function ps(args: readonly string[]): Promise<string | undefined> {
  const { code, output } = await runProgram('ps', args, { user: undefined, directory: '/' });
  return code === 0 ? output.trim() : undefined;
}

async function windowsCommandLine(pid: number): Promise<string | undefined> {
  const query = `(Get-CimInstance Win32_Process -Filter 'ProcessId=${String(pid)}').CommandLine`;
  const { code, output } = await runProgram('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', query], {
    user: undefined,
    directory: process.cwd(),
  });
  return code === 0 ? output.trim() : undefined;
}

async function readIfReadable(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
