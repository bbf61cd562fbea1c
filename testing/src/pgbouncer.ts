import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

/** A PgBouncer in front of the PostgreSQL server. */
export interface PgBouncer {
  /** The given connection string with the address of PgBouncer. */
  readonly connectionString: string;
  stop(): Promise<void>;
}

/** Returns the version of the installed PgBouncer, such as `1.18.0`, or null. */
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
  /** The number of connections to the server. */
  readonly size: number;
}

/** Starts PgBouncer on a free port of 127.0.0.1, in front of the server of a connection string. */
export async function startPgBouncer(connectionString: string, { mode, size }: PgBouncerOptions): Promise<PgBouncer> {
  const server = new URL(connectionString);
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'pgway-pgbouncer-'));
  const configuration = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users.txt');
  // PgBouncer logs in to the server with the same user and password as its clients.
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
server_login_retry = 1
`,
  );
  const user = await userOption([directory, configuration, users]);
  const child = spawn('pgbouncer', ['-q', ...user, configuration], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString()));
  const stop = async (): Promise<void> => {
    await kill(child);
    await rm(directory, { recursive: true, force: true });
  };
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  try {
    await waitForAnswer(through.href, child, () => errors);
    return { connectionString: through.href, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** PgBouncer refuses to run as root: gives the files to the user `nobody` and returns the option that switches to it. */
async function userOption(paths: readonly string[]): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return [];
  const { stdout } = await promisify(execFile)('id', ['-u', 'nobody']);
  await Promise.all(paths.map((path) => chown(path, Number(stdout), -1)));
  return ['-u', 'nobody'];
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

async function waitForAnswer(connectionString: string, child: ChildProcess, errors: () => string): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const client = new Client({ connectionString });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > end) {
        throw new Error(`PgBouncer did not start: ${errors()}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
