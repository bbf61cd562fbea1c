/** A server in a process of its own that is started by a command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import type { ResourceUsage } from './contenders/contender.ts';

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

const ticksPerSecond = 100;
const pageSize = 4096;

interface ProcessUsage extends ResourceUsage {
  readonly parent: number;
}

/** Returns the usage of a process and its descendants from `/proc`, which Linux has. */
function usageOf(pid: number): ResourceUsage | null {
  const all = readProcesses();
  if (!all.has(pid)) return null;
  const sum = { cpu: 0, rss: 0 };
  const add = (parent: number): void => {
    sum.cpu += all.get(parent)!.cpu;
    sum.rss += all.get(parent)!.rss;
    for (const [child, usage] of all) if (usage.parent === parent) add(child);
  };
  add(pid);
  return sum;
}

function readProcesses(): ReadonlyMap<number, ProcessUsage> {
  const processes = new Map<number, ProcessUsage>();
  for (const name of listProcesses()) {
    try {
      processes.set(Number(name), parseStat(readFileSync(`/proc/${name}/stat`, 'utf8')));
    } catch {
      // The process has ended.
    }
  }
  return processes;
}

function listProcesses(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Reads a line of `/proc/PID/stat`. */
export function parseStat(stat: string): ProcessUsage {
  // The fields after the name, which may have spaces: the state is the first of them, user and system time are the 12th and 13th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system, pages] = [fields[1], fields[11], fields[12], fields[21]].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return { parent, cpu: ((user + system) / ticksPerSecond) * 1e6, rss: pages * pageSize };
}
