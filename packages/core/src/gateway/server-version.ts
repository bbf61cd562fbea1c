import { setTimeout as sleep } from 'node:timers/promises';
import {
  AcquireTimeout,
  ConnectionLost,
  type Database,
  DatabaseError,
  ConnectionSetupError,
} from '../postgres/port.ts';
import type { Observer } from '../ports/ports.ts';
import { StartError, toStartError } from './start-error.ts';

/** `server_version_num` of PostgreSQL 13. */
const minServerVersion = 130_000;
/** Milliseconds. */
const maxRetryDelay = 1_000;

/**
 * Connects to every database, and checks its version. The main database must respond; a named one may become available later.
 * @param retrySeconds how long to retry the connection to the main database
 * @throws StartError
 */
export async function checkServers(
  { main, named }: { readonly main: Database; readonly named: ReadonlyMap<string, Database> },
  retrySeconds: number,
  observe: Observer,
): Promise<void> {
  await checkServer(main, retrySeconds, observe);
  await checkNamedServers(named, observe);
}

/**
 * Checks the version of a server, and warns of a role that bypasses row level security.
 * @param connection its name, null for the main one
 * @throws StartError for a version that is too old
 */
async function checkServer(
  database: Database,
  retrySeconds: number,
  observe: Observer,
  connection: string | null = null,
): Promise<void> {
  const deadline = performance.now() + retrySeconds * 1_000;
  const [versionNumber, version, role, isSuperuser, bypassesRls] = await readServer(database, deadline);
  if (Number(versionNumber) < minServerVersion) {
    throw new StartError(`the server is PostgreSQL ${version}; the gateway needs version 13 or newer`);
  }
  if (isSuperuser !== 't' && bypassesRls !== 't') return;
  const privilege = isSuperuser === 't' ? 'a superuser' : 'exempt from row-level security';
  const where = connection === null ? '' : ` on the connection "${connection}"`;
  const message = `the gateway connects as "${role}"${where}, which is ${privilege}; use a role with the necessary privileges only`;
  observe({ kind: 'start-warning', code: 'privileged-role', message });
}

/** An unreachable named database is a warning. Its endpoints respond 503 meanwhile. */
async function checkNamedServers(named: ReadonlyMap<string, Database>, observe: Observer): Promise<void> {
  const checks = [...named].map(async ([name, database]) => {
    try {
      await checkServer(database, 0, observe, name);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const message = `the connection "${name}" cannot be used yet: ${toStartError(error).message}`;
      observe({ kind: 'start-warning', code: 'connection-unavailable', message });
    }
  });
  await Promise.all(checks);
}

async function readServer(database: Database, deadline: number): Promise<readonly (string | null)[]> {
  for (let delay = 100; ; delay = Math.min(maxRetryDelay, delay * 2)) {
    try {
      // Attempts run one after the other.
      // oxlint-disable-next-line no-await-in-loop
      const [row] = await database.query(
        `select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_version'),
                rolname, rolsuper, rolbypassrls
         from pg_catalog.pg_roles where rolname operator(pg_catalog.=) current_user`,
      );
      return row ?? [];
    } catch (error) {
      if (!isTransient(error) || performance.now() + delay > deadline) throw error;
      // oxlint-disable-next-line no-await-in-loop
      await sleep(delay);
    }
  }
}

/** Whether a retry may help: the server is unreachable, starting, or has no free connection (57P0x, 53300). */
function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionSetupError) return false;
  if (error instanceof DatabaseError) return /^(57P|53300)/.test(error.diagnostics.code);
  return error instanceof ConnectionLost || error instanceof AcquireTimeout;
}
