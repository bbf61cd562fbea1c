import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';

/** A pooler between a test and its server. */
export interface PgBouncer {
  /** The given connection string, through the pooler. */
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** The version of the installed PgBouncer, such as `1.18.0`; null where there is none. */
export async function pgbouncerVersion(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('pgbouncer', ['--version']);
    return /PgBouncer (\S+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

export interface PgBouncerOptions {
  readonly mode: 'session' | 'transaction';
  /** Connections to the server. */
  readonly size: number;
}

/** Starts PgBouncer on a free port of 127.0.0.1, in front of the server of a connection string. It refuses to run as root. */
export async function startPgBouncer(connectionString: string, { mode, size }: PgBouncerOptions): Promise<PgBouncer> {
  const server = new URL(connectionString);
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'pgway-pgbouncer-'));
  const configuration = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users.txt');
  // Its own login to the server is the one that it knows from its clients.
  const password = decodeURIComponent(server.password);
  await writeFile(users, `"${server.username}" "${password}"\n`);
  await writeFile(
    configuration,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 200
query_wait_timeout = 20
`,
  );
  const user = await unprivileged([directory, configuration, users]);
  const child = spawn('pgbouncer', ['-q', ...user, configuration], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  const stop = async (): Promise<void> => {
    await ended(child);
    await rm(directory, { recursive: true, force: true });
  };
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  try {
    await answering(through.href, child, () => said);
    return { connectionString: through.href, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Root gives its files to an account that may do nothing, and lets the pooler become that. */
async function unprivileged(paths: readonly string[]): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return [];
  const { stdout } = await promisify(execFile)('id', ['-u', 'nobody']);
  await Promise.all(paths.map((path) => chown(path, Number(stdout), -1)));
  return ['-u', 'nobody'];
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

async function answering(connectionString: string, child: ChildProcess, said: () => string): Promise<void> {
  const end = performance.now() + 10_000;
  for (;;) {
    const client = new Client({ connectionString });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > end) {
        throw new Error(`PgBouncer did not start: ${said()}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
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
