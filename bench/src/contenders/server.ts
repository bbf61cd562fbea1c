/** The standalone server `pgway`, as a program of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { ContenderSettings, ListeningServer, ResourceUsage } from './contender.ts';

const program = fileURLToPath(new URL('dist/bin.js', import.meta.resolve('pgway/package.json')));
const startTimeoutMs = 30_000;
const pollMs = 20;

/** Starts the server with its defaults for production; its log goes to a file. */
export async function startServer(
  { connectionString, pool }: ContenderSettings,
  options: readonly string[] = [],
): Promise<ListeningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgway-bench-'));
  const log = openSync(join(folder, 'server.log'), 'w');
  const port = await freePort();
  const server = spawn(
    process.execPath,
    [program, `--port=${port}`, `--gateway.poolSize=${pool}`, '--log.format=json', ...options],
    {
      cwd: folder,
      env: { ...process.env, PGWAY_CONNECTION_STRING: connectionString },
      stdio: ['ignore', log, 'inherit'],
    },
  );
  const exited = once(server, 'exit');
  closeSync(log);
  const close = async (): Promise<void> => {
    server.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const stopped = new AbortController();
  const ended = exited.then(() => {
    throw new Error(`the server has ended with the exit code ${server.exitCode}`);
  });
  try {
    await Promise.race([untilListening(port, stopped.signal), ended]);
  } catch (error) {
    await close();
    throw error;
  } finally {
    stopped.abort();
    ended.catch(() => undefined);
  }
  return { port, usage: () => usageOf(server.pid!), close };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function untilListening(port: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (!signal.aborted) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      if (performance.now() > deadline) throw new Error('the server does not listen');
      await pause(pollMs);
    } finally {
      socket.destroy();
    }
  }
}

const ticksPerSecond = 100;
const pageSize = 4096;

/** Reads the usage of a process from `/proc`, which Linux has. */
function usageOf(pid: number): ResourceUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The fields after the name, which may have spaces: state is the first of them, user and system time are the 12th and 13th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, pages] = [fields[11], fields[12], fields[21]].map(Number) as [number, number, number];
  return { cpu: ((user + system) / ticksPerSecond) * 1e6, rss: pages * pageSize };
}
