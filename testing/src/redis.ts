import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A Redis server of a test's own, on a free port of 127.0.0.1, that keeps nothing on disk unless told to. */
export interface RedisServer {
  readonly url: string;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with nothing in it but what was saved. */
  restart(): Promise<void>;
  /** Holds it, so that it takes commands and answers none. */
  hang(): void;
  goOn(): void;
  /** One command, as text: `redis.command('FLUSHALL')`. */
  command(line: string): Promise<string>;
  stop(): Promise<void>;
}

/** The version of the installed server, such as `7.0.15`; null where there is none. */
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
    hang: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    command: (line) => command(port, line),
    stop,
  };
}

/** An inline command, and the first line of its answer. */
function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(`${line}\r\n`));
    let said = '';
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes('\r\n')) return;
      socket.destroy();
      resolve(said.slice(0, said.indexOf('\r\n')));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('Redis has hung up')));
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
