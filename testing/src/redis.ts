import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { promisify } from 'node:util';

/** A Redis or Valkey of one test. */
export interface TestRedis {
  readonly url: string;
  stop(): Promise<void>;
  /** After `stop`, at the same address, with nothing in it. */
  restart(): Promise<void>;
}

/** Starts `redis-server` on a free port of 127.0.0.1; null where there is none. */
export async function startRedis(): Promise<TestRedis | null> {
  if (!(await hasRedis())) return null;
  const port = await freePort();
  let child: ChildProcess | null = null;
  const begin = async (): Promise<void> => {
    child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
      stdio: 'ignore',
    });
    const end = performance.now() + 10_000;
    while (!(await answers(port))) {
      if (child.exitCode !== null || performance.now() > end) throw new Error('redis-server did not start');
    }
  };
  const stop = async (): Promise<void> => {
    const running = child;
    child = null;
    if (running === null || running.exitCode !== null) return;
    const exit = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await exit;
  };
  await begin();
  return { url: `redis://127.0.0.1:${port}`, stop, restart: begin };
}

export async function hasRedis(): Promise<boolean> {
  return promisify(execFile)('redis-server', ['--version']).then(
    () => true,
    () => false,
  );
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const done = (yes: boolean): void => {
      socket.destroy();
      setTimeout(() => resolve(yes), yes ? 0 : 20);
    };
    socket.once('data', (data) => done(data.toString().startsWith('+PONG')));
    socket.once('error', () => done(false));
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
