import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A Redis server for one test, on a free port of 127.0.0.1. It writes to disk only on a `SAVE` command. */
export interface RedisServer {
  readonly url: string;
  /** Kills the process, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with the saved data only. */
  restart(): Promise<void>;
  /** Stops the process: the server accepts commands and answers none until `resume`. */
  pause(): void;
  resume(): void;
  /** Runs a command and returns the first line of its reply: `redis.command('FLUSHALL')`. */
  command(line: string): Promise<string>;
  stop(): Promise<void>;
}

/** Returns the version of the installed server, such as `7.0.15`, or null. */
export async function redisVersion(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('redis-server', ['--version']);
    return /v=(\S+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Starts a Redis server. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'pgway-redis-'));
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', ''];
    child = spawn('redis-server', options, { stdio: 'ignore' });
    const end = performance.now() + 10_000;
    while ((await command(port, 'PING').catch(() => '')) !== '+PONG') {
      if (child.exitCode !== null || performance.now() > end) throw new Error('Redis did not start');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exit;
  };
  const stop = async (): Promise<void> => {
    await kill();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    restart: start,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    command: (line) => command(port, line),
    stop,
  };
}

/** Sends an inline command and returns the first line of the reply. */
function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(`${line}\r\n`));
    let reply = '';
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString();
      if (!reply.includes('\r\n')) return;
      socket.destroy();
      resolve(reply.slice(0, reply.indexOf('\r\n')));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('Redis has closed the connection')));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
