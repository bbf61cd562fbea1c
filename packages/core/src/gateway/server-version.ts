import type { Database } from '../postgres/port.ts';
import type { Observer } from '../ports/ports.ts';
import { StartError, toStartError } from './start-error.ts';

/** `server_version_num` of PostgreSQL 13. */
const minServerVersion = 130_000;

/** How servers are checked. */
interface ServerCheck {
  /** A query of the host in place of that of the catalog, which may suit an older server; null: there is none. */
  readonly query: string | null;
  readonly observe: Observer;
}

/**
 * Connects to every database, and checks its version. The main database must respond; a named one may become available later.
 * @throws StartError
 */
export async function checkServers(
  { main, named }: { readonly main: Database; readonly named: ReadonlyMap<string, Database> },
  check: ServerCheck,
): Promise<void> {
  await checkServer(main, check);
  await checkNamedServers(named, check);
}

/**
 * Checks the version of a server.
 * @throws StartError for one that is too old, unless a query of the host reads its routines
 */
export function checkVersion(
  { number, text }: { readonly number: number; readonly text: string },
  { query, observe }: Pick<ServerCheck, 'query' | 'observe'>,
): void {
  if (number >= minServerVersion) return;
  if (query === null) throw new StartError(`the server is PostgreSQL ${text}; the gateway needs version 13 or newer`);
  const message = `the server is PostgreSQL ${text}; the gateway is tested with version 13 and newer. The option query reads the routines; tables, replicas and idempotency keys need version 13`;
  observe({ kind: 'start-warning', code: 'old-server', message });
}

/**
 * Checks the version of a server, and warns of a role that bypasses row level security.
 * @param connection its name, null for the main one
 * @throws StartError for a version that is too old
 */
async function checkServer(database: Database, check: ServerCheck, connection: string | null = null): Promise<void> {
  const [row = []] = await database.query(
    `select pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_version'),
            rolname, rolsuper, rolbypassrls
     from pg_catalog.pg_roles where rolname operator(pg_catalog.=) current_user`,
  );
  const [versionNumber, version, role, isSuperuser, bypassesRls] = row;
  checkVersion({ number: Number(versionNumber), text: version ?? '' }, check);
  if (isSuperuser !== 't' && bypassesRls !== 't') return;
  const privilege = isSuperuser === 't' ? 'a superuser' : 'exempt from row-level security';
  const where = connection === null ? '' : ` on the connection "${connection}"`;
  const message = `the gateway connects as "${role}"${where}, which is ${privilege}; use a role with the necessary privileges only`;
  check.observe({ kind: 'start-warning', code: 'privileged-role', message });
}

/** An unreachable named database is a warning. Its endpoints respond 503 meanwhile. */
async function checkNamedServers(named: ReadonlyMap<string, Database>, check: ServerCheck): Promise<void> {
  const checks = [...named].map(async ([name, database]) => {
    try {
      await checkServer(database, check, name);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const message = `the connection "${name}" cannot be used yet: ${toStartError(error).message}`;
      check.observe({ kind: 'start-warning', code: 'connection-unavailable', message });
    }
  });
  await Promise.all(checks);
}
