/** The PostgreSQL server process: start, readiness, log and shutdown. */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Binaries } from './binaries.ts';
import type { DataDirectory } from './data-directory.ts';
import { errorCode, PostgresServerError } from './postgres-server-error.ts';
import { type OsUser, runProgram, spawnOptions, waitFor } from './processes.ts';

/** A PostgreSQL server process that this process has started. */
export interface ServerProcess {
  hasExited(): boolean;
  /** Resolves when the process has exited, with the signal or exit code: `SIGKILL`, `exit code 2`. Never resolves on Windows. */
  readonly exit: Promise<string>;
  /** Tells whether the server accepts connections. */
  isReady(): Promise<boolean>;
  /** The last lines of the server's log. */
  log(): readonly string[];
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  readonly directory: DataDirectory;
  readonly binaries: Binaries;
  readonly user: OsUser | undefined;
  /** `name=value` each. */
  readonly settings: readonly string[];
}

const LOG_LINES = 40;

/** Seconds for a fast shutdown, which writes a checkpoint. */
export const FAST_SHUTDOWN_SECONDS = 30;
const IMMEDIATE_SHUTDOWN_SECONDS = 5;

export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  return process.platform === 'win32' ? startWithPgCtl(options) : startChild(options);
}

function startChild({ directory, binaries, user, settings }: ServerProcessOptions): ServerProcess {
  const args = ['-D', directory.cluster, ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(binaries.postgres, args, {
    ...spawnOptions({ user, directory: directory.root }),
    // A separate session: Ctrl+C must not stop the server before the last response is sent.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  let hasExited = false;
  child.once('error', (error) => {
    lines.push(error.message);
    hasExited = true;
  });
  const exit = new Promise<string>((resolve) => {
    // "close" is emitted after the last line was read.
    child.once('close', (code, signal) => {
      hasExited = true;
      resolve(signal ?? `exit code ${String(code)}`);
    });
  });
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > LOG_LINES) lines.shift();
  });
  // The server does not keep this process alive; the watchdog stops it afterwards.
  child.unref();
  (child.stderr as unknown as Socket).unref();
  return {
    hasExited: () => hasExited,
    exit,
    isReady: async () => {
      const file = await readPostmasterPid(directory.cluster);
      return file !== undefined && file.pid === child.pid && file.ready;
    },
    log: () => [...lines],
    stop: () => shutDown({ isRunning: () => !hasExited, signal: (name) => void child.kill(name) }),
  };
}

/**
 * Starts the server on Windows. `pg_ctl` gives up administrator rights, with which PostgreSQL refuses to run. The server is
 * then not a child process, and writes its log to a file.
 */
async function startWithPgCtl({ directory, binaries, settings }: ServerProcessOptions): Promise<ServerProcess> {
  const unquotable = settings.find((setting) => /["%\r\n]/.test(setting));
  if (unquotable !== undefined) {
    throw new PostgresServerError(
      `the PostgreSQL setting ${JSON.stringify(unquotable)} cannot be passed on Windows; remove quotation marks, percent signs and line breaks`,
    );
  }
  await rm(directory.logFile, { force: true });
  const settingArgs = settings.map((setting) => `-c "${setting}"`).join(' ');
  const args = ['start', '-D', directory.cluster, '-s', '-w', '-t', '600', '-l', directory.logFile, '-o', settingArgs];
  const code = await runWithoutPipes(binaries.pgCtl, args, directory.root);
  const lines = (await readFile(directory.logFile, 'utf8').catch(() => '')).split(/\r?\n/).slice(-LOG_LINES);
  let hasExited = code !== 0;
  return {
    hasExited: () => hasExited,
    exit: new Promise(() => undefined),
    isReady: async () => !hasExited,
    log: () => lines,
    stop: async () => {
      if (!hasExited) await shutDownWithPgCtl(binaries, directory);
      hasExited = true;
    },
  };
}

/** The server would inherit pipes and keep them open. */
function runWithoutPipes(command: string, args: readonly string[], directory: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...spawnOptions({ user: undefined, directory }), stdio: 'ignore' });
    child.once('error', () => resolve(undefined));
    child.once('exit', (code) => resolve(code ?? undefined));
  });
}

export interface StoppableProcess {
  isRunning(): boolean | Promise<boolean>;
  signal(name: NodeJS.Signals): void;
}

/** Tries a fast shutdown, then an immediate one (the next start recovers the data), then SIGKILL. */
export async function shutDown(server: StoppableProcess): Promise<void> {
  const hasStopped = async (): Promise<boolean> => !(await server.isRunning());
  if (await hasStopped()) return;
  server.signal('SIGINT');
  if (await waitFor(hasStopped, FAST_SHUTDOWN_SECONDS * 1000)) return;
  server.signal('SIGQUIT');
  if (await waitFor(hasStopped, IMMEDIATE_SHUTDOWN_SECONDS * 1000)) return;
  server.signal('SIGKILL');
  await waitFor(hasStopped, IMMEDIATE_SHUTDOWN_SECONDS * 1000);
}

/** Shuts down on Windows, which has no signals: fast, then immediate. */
export async function shutDownWithPgCtl(binaries: Binaries, directory: DataDirectory): Promise<void> {
  for (const [mode, seconds] of [
    ['fast', FAST_SHUTDOWN_SECONDS],
    ['immediate', IMMEDIATE_SHUTDOWN_SECONDS],
  ] as const) {
    const args = ['stop', '-D', directory.cluster, '-s', '-w', '-t', String(seconds), '-m', mode];
    const { code } = await runProgram(binaries.pgCtl, args, { user: undefined, directory: directory.root });
    if (code === 0) return;
  }
}

/** Content of `postmaster.pid`, which a running server keeps in its cluster. */
export interface PostmasterPid {
  readonly pid: number;
  readonly ready: boolean;
  /** Undefined until the server listens. */
  readonly port: number | undefined;
}

/** Reads `postmaster.pid`; undefined when it is missing or has no process id yet. */
export async function readPostmasterPid(cluster: string): Promise<PostmasterPid | undefined> {
  try {
    const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
    const pid = Number(lines[0]);
    // The id is negative in single-user mode. The fourth line is the port, the eighth one "starting", "ready" or "stopping".
    if (!Number.isInteger(pid) || pid <= 0) return undefined;
    return { pid, ready: lines[7]?.trim() === 'ready', port: Number(lines[3]) || undefined };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function removePostmasterPid(cluster: string): Promise<void> {
  await rm(join(cluster, 'postmaster.pid'), { force: true });
}
