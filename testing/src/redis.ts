import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

/** A Redis server for one test, on a free port of 127.0.0.1. It writes to disk only on a `SAVE` command. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Kills the process, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with the saved data only. */
  restart(): Promise<void>;
  /** Stops the process: the server accepts commands and answers none until `resume`. */
  pause(): void;
  resume(): void;
  /** Runs a command and returns the first line of its reply, of a bulk string all of it: `redis.command('FLUSHALL')`. */
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

/**
 * Starts a Redis server.
 * @param settings further options of its command line, such as `--replicaof 127.0.0.1 6379`
 * @param file the path of its configuration file
 */
export async function startRedis(settings: readonly string[] = [], file?: string): Promise<RedisServer> {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'pgway-redis-'));
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    const path = file === undefined ? [] : [file];
    const options = [
      ...path,
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      directory,
      '--save',
      '',
      ...settings,
    ];
    child = spawn('redis-server', options, { stdio: 'ignore' });
    const end = performance.now() + 60_000;
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
    port,
    kill,
    restart: start,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    command: (line) => command(port, line),
    stop,
  };
}

/** Sends an inline command and returns the first line of the reply, of a bulk string all of it. */
function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(`${line}\r\n`));
    let reply = '';
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1');
      const end = reply.indexOf('\r\n');
      const length = /^\$(\d+)\r\n/.exec(reply)?.[1];
      const start = length === undefined ? 0 : end + 2;
      const stop = length === undefined ? end : start + Number(length);
      if (end === -1 || reply.length < stop) return;
      socket.destroy();
      resolve(reply.slice(start, stop));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('Redis has closed the connection')));
  });
}
