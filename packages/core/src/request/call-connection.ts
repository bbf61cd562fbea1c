import type { DatabaseRole } from '../auth/context.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Database } from '../postgres/port.ts';
import type { InjectedCall } from './inject.ts';

/** The databases and roles that calls run with. */
export interface ConnectionContext {
  readonly database: Database;
  /** The databases that endpoints select with `connection`. */
  readonly namedDatabases: ReadonlyMap<string, Database>;
  /** Null: calls run under the role of their connection. */
  readonly databaseRole: DatabaseRole | null;
  /** Milliseconds; the default for calls on a connection that the host provides. */
  readonly timeout: number;
}

/** The database that runs an endpoint's routine. */
export function selectDatabase(
  { database, namedDatabases }: Pick<ConnectionContext, 'database' | 'namedDatabases'>,
  { connection }: Endpoint,
): Database {
  return connection === null ? database : namedDatabases.get(connection)!;
}

/** The role in the call's settings. Null: the connection's own role; undefined: roles are not in use. */
export function selectRole(
  { databaseRole }: Pick<ConnectionContext, 'databaseRole'>,
  { settings }: Pick<InjectedCall, 'settings'>,
): string | null | undefined {
  const role = settings.findLast(([name]) => name.length === 4 && name.toLowerCase() === 'role');
  return role?.[1] ?? (databaseRole === null ? undefined : null);
}

/** Milliseconds. Null: the sessions of pooled connections have the default timeout already. */
export function selectTimeout(
  { timeout }: Pick<ConnectionContext, 'timeout'>,
  { timeoutMs }: Endpoint,
  isHostConnection: boolean,
): number | null {
  return timeoutMs ?? (isHostConnection ? timeout : null);
}
