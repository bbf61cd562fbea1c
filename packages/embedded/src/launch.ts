import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { SERVER_MARK } from './orphan.ts';
import { PostgresServerError } from './postgres-server-error.ts';
import { type ServerProcess, type ServerProcessOptions, startServerProcess } from './server-process.ts';

export interface LaunchOptions extends ServerProcessOptions {
  readonly report: (message: string) => void;
  /** Returns the port to try. Default: a free one. */
  readonly nextPort?: () => Promise<number>;
}

export interface LaunchedServer {
  readonly server: ServerProcess;
  readonly port: number;
}

const PORT_ATTEMPTS = 20;
/** How long to wait for processes of a killed server that still hold its shared memory. */
const SHARED_MEMORY_TIMEOUT_MS = 10_000;
const REPORT_INTERVAL_MS = 5_000;

/**
 * Starts the server on a free port and waits until it accepts connections, without a limit, because recovery may take long.
 * Tries another port when the port is taken, and waits for processes of a killed server.
 */
export async function launchServer(options: LaunchOptions): Promise<LaunchedServer> {
  const { report, binaries, settings, nextPort = findFreePort } = options;
  const sharedMemoryDeadline = performance.now() + SHARED_MEMORY_TIMEOUT_MS;
  let takenPorts = 0;
  for (;;) {
    const port = await nextPort();
    report(`starting PostgreSQL ${binaries.version} on port ${String(port)}`);
    const server = await startServerProcess({ ...options, settings: [...settings, `port=${String(port)}`] });
    if (await waitUntilReady(server, report)) return { server, port };
    const log = server.log();
    if (hasLine(log, /could not bind .*address already in use|could not create any TCP\/IP sockets/i)) {
      takenPorts++;
      if (takenPorts < PORT_ATTEMPTS) continue;
    } else if (hasLine(log, /pre-existing shared memory block/) && performance.now() < sharedMemoryDeadline) {
      await delay(100);
      continue;
    }
    throw new PostgresServerError(
      `PostgreSQL did not start: ${startFailure(log)}; fix that, or choose another data directory`,
      { log },
    );
  }
}

/** Returns a free port of 127.0.0.1. Another program may take it before PostgreSQL does. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

async function waitUntilReady(server: ServerProcess, report: (message: string) => void): Promise<boolean> {
  let nextReport = performance.now() + REPORT_INTERVAL_MS;
  try {
    while (!(await server.isReady())) {
      if (server.hasExited()) return false;
      if (performance.now() > nextReport) {
        report(`PostgreSQL is still starting: ${server.log().at(-1) ?? 'its log is empty'}`);
        nextReport += REPORT_INTERVAL_MS;
      }
      await delay(10);
    }
    return true;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function hasLine(log: readonly string[], pattern: RegExp): boolean {
  return log.some((line) => pattern.test(line));
}

/** Returns the last fatal error with its hint or detail, without timestamp and process id. */
function startFailure(log: readonly string[]): string {
  const fatal = log.findLastIndex((line) => /\b(FATAL|PANIC):/.test(line));
  const after = log.slice(fatal + 1);
  const hint = after.find((line) => /\bHINT:/.test(line)) ?? after.find((line) => /\bDETAIL:/.test(line));
  const lines = fatal === -1 ? [log.at(-1)] : [log[fatal], hint];
  const messages = lines
    .filter((line) => line !== undefined)
    .map((line) => line.replace(/^.*?\b(FATAL|PANIC|HINT|DETAIL):\s*/, ''));
  return messages.join(' ').replace(/\.$/, '') || 'it exited without a message';
}

/** Settings that the launcher depends on. */
const RESERVED_SETTINGS: readonly string[] = [
  // Only this machine and only with the password: no Unix-domain socket in a directory that other users can write.
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  SERVER_MARK,
  // The launcher reads the log.
  'lc_messages=C',
];

/** Settings that `settings` can replace. Logical replication needs a level that PostgreSQL reads at its start only. */
const DEFAULT_SETTINGS: readonly string[] = ['wal_level=logical'];

const NOT_DURABLE_SETTINGS: readonly string[] = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** Returns the settings for the command line (`-c` each), without the port. */
export function commandLineSettings(
  durable: boolean,
  settings: Readonly<Record<string, string>> = {},
): readonly string[] {
  const reserved = new Set([...RESERVED_SETTINGS.map((line) => line.split('=')[0]), 'port', 'data_directory']);
  const requested = Object.entries(settings).map(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) {
      throw new PostgresServerError(
        `"${name}" is not the name of a PostgreSQL setting; run SHOW ALL to list the names`,
      );
    }
    if (reserved.has(name.toLowerCase())) {
      throw new PostgresServerError(
        `the PostgreSQL setting "${name}" is set by @pgway/embedded; remove it from the option "settings"`,
      );
    }
    return `${name}=${value}`;
  });
  return Object.freeze([
    ...DEFAULT_SETTINGS,
    ...(durable ? [] : NOT_DURABLE_SETTINGS),
    ...requested,
    ...RESERVED_SETTINGS,
  ]);
}
