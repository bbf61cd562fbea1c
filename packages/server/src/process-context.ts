/** The process as the command line sees it: output streams, terminal, working directory, stop signals. */
import { readFileSync, write, writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Readable } from 'node:stream';
import type { LogConsole } from './log/log-outputs.ts';

interface Output {
  write(text: string): void;
}

/** `forced` follows when the stop signal is repeated. */
export type StopMode = 'graceful' | 'forced';

export interface ProcessContext extends LogConsole {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Columns of the terminal; null when the output is not a terminal. */
  readonly columns: number | null;
  readonly workingDirectory: string;
  /** Calls the listener at stop signals; returns a function that removes it. */
  readonly onStop: (listener: (mode: StopMode) => void) => () => void;
  /** Calls the listener at requests to reload the configuration; returns a function that removes it. */
  readonly onReload: (listener: () => void) => () => void;
}

const signals = ['SIGINT', 'SIGTERM'] as const;
// npm forwards a Ctrl-C that the terminal has already sent to the process group: one stop request, not two.
const duplicateSignalMs = 500;
const parentCheckIntervalMs = 500;

export function createProcessContext(): ProcessContext {
  // A closed pipe (`pgway | head`) must not end the server.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const reloads = new Set<() => void>();
  return {
    stdin: process.stdin,
    stdout: { write: (text) => void process.stdout.write(text) },
    stderr: { write: (text) => void process.stderr.write(text) },
    writeLog: serialized((lines) => writeAll(process.stdout.fd, lines)),
    writeLogSync: writeStdoutSync,
    onExit: onProcessExit,
    columns: terminalColumns(process.stdout),
    workingDirectory: process.cwd(),
    onStop: (listener) => listenForStop(listener, reloads),
    onReload: (listener) => {
      reloads.add(listener);
      return () => reloads.delete(listener);
    },
  };
}

/** Runs one call after the other: a write in parts must not mix with another one. */
function serialized(write: (lines: Uint8Array) => Promise<void>): (lines: Uint8Array) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (lines) => {
    const result = last.then(() => write(lines));
    last = result.catch(() => undefined);
    return result;
  };
}

const writeSome = promisify(write);
const fullPipeRetryMs = 20;

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      // The rest follows.
      const { bytesWritten } = await writeSome(fd, rest);
      rest = rest.subarray(bytesWritten);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await setTimeout(fullPipeRetryMs);
    }
  }
}

/** Writes what the standard output takes. */
export function writeStdoutSync(bytes: Uint8Array): void {
  try {
    let rest = bytes;
    while (rest.length > 0) rest = rest.subarray(writeSync(process.stdout.fd, rest));
  } catch {
    // The pipe is full or closed.
  }
}

/** Calls the listener at the exit of the process; returns a function that removes it. */
export function onProcessExit(listener: () => void): () => void {
  process.on('exit', listener);
  return () => process.off('exit', listener);
}

/** Returns null for output that is not a terminal, and for terminals that report 0 columns. */
export function terminalColumns({
  isTTY,
  columns,
}: {
  readonly isTTY: boolean;
  readonly columns?: number;
}): number | null {
  return isTTY && columns !== undefined && columns > 0 ? columns : null;
}

/** @param reloads receive SIGHUP instead, unless a terminal has sent it, which was closed */
function listenForStop(listener: (mode: StopMode) => void, reloads: ReadonlySet<() => void>): () => void {
  let firstAt: number | null = null;
  const stop = (): void => {
    const now = performance.now();
    if (firstAt === null) {
      firstAt = now;
      listener('graceful');
    } else if (now - firstAt > duplicateSignalMs) {
      listener('forced');
    }
  };
  const hangUp = (): void => {
    if (reloads.size === 0 || process.stdin.isTTY || process.stdout.isTTY) stop();
    else for (const reload of reloads) reload();
  };
  for (const signal of signals) process.on(signal, stop);
  process.on('SIGHUP', hangUp);
  const unwatch = watchParents(stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
    process.off('SIGHUP', hangUp);
    unwatch();
  };
}

/**
 * Calls the listener once npm or its shell has exited; only under `npm start`. Without them no signal would reach this process,
 * which would keep its port.
 */
function watchParents(listener: () => void): () => void {
  if (process.env['npm_lifecycle_event'] === undefined) return () => {};
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    clearInterval(timer);
    listener();
  }, parentCheckIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Returns the context of a program that can be reloaded, until its end: a request during its start is passed on to the first listener,
 * and one during its end is dropped.
 */
export function withEarlyReloads(context: ProcessContext): ProcessContext {
  let listener: (() => void) | null = null;
  let isRequested = false;
  context.onReload(() => {
    if (listener === null) isRequested = true;
    else listener();
  });
  return {
    ...context,
    onReload: (added) => {
      listener = added;
      if (isRequested) added();
      isRequested = false;
      return () => (listener = () => undefined);
    },
  };
}

/** Returns the parent of a process; null without `/proc`. */
function parentOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]);
  } catch {
    return null;
  }
}
