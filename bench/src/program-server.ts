/** A server in a process of its own that is started by a command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import type { ResourceUsage } from './contenders/contender.ts';
import { usageOf } from './process-usage.ts';

export interface ProgramServer {
  readonly port: number;
  /** Of all its processes; null where the system has no `/proc`. */
  usage(): ResourceUsage | null;
  close(): Promise<void>;
}

export interface Program {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  /** A file descriptor for its standard output. */
  readonly output: number;
  /** The port on which it will listen. */
  readonly port: number;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;
const pollMs = 20;

/** Starts a program and waits until it listens. Throws when it ends before. */
export async function startProgram(program: Program): Promise<ProgramServer> {
  const { name, command, args, env, folder, output, port } = program;
  // A process group of its own: a shell does not pass on signals.
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', output, 'inherit'], detached: true });
  const ended = untilEnded(child);
  const close = async (): Promise<void> => {
    signalGroup(child, 'SIGTERM');
    const late = setTimeout(() => signalGroup(child, 'SIGKILL'), stopTimeoutMs);
    await ended;
    clearTimeout(late);
  };
  const stopped = new AbortController();
  try {
    const reason = await Promise.race([untilListening(port, stopped.signal), ended]);
    if (reason !== null) throw new Error(`${name} ${reason}`);
  } catch (error) {
    await close();
    throw error;
  } finally {
    stopped.abort();
  }
  return { port, usage: () => (child.pid === undefined ? null : usageOf(child.pid)), close };
}

/** Resolves with the reason. */
async function untilEnded(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return `has ended with ${signal ?? `exit code ${code}`} before it listened`;
  } catch (error) {
    return `did not start: ${String(error)}`;
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Resolves with null, or with the reason. */
async function untilListening(port: number, signal: AbortSignal): Promise<string | null> {
  const deadline = performance.now() + startTimeoutMs;
  while (!signal.aborted && performance.now() < deadline) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return null;
    } catch {
      await pause(pollMs);
    } finally {
      socket.destroy();
    }
  }
  return `does not listen on port ${port}`;
}
