import type { Connections } from './connections.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import type { Database } from '../postgres/port.ts';
import { Problem } from '../http/problem.ts';
import { type DatabaseRole, selectRole } from '../auth/context.ts';
import type { PrivilegeChecker } from '../events/subscriber-authorization.ts';
import type { CompiledEndpoint } from '../request/compiled-endpoint.ts';
import type { Caller } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { privilegesSql } from './routine-privileges.sql.ts';

/** Milliseconds that the query may take. */
const queryTimeout = 5_000;
/** Checks in one query. */
const maxBatch = 1_000;

/**
 * Asks PostgreSQL whether the role of a caller may execute routines. Each database gets one query at a time, whatever the number of streams,
 * and equal checks are sent once. A result is never older than its check.
 */
export class RoutinePrivileges implements PrivilegeChecker {
  readonly #connections: Connections;
  readonly #context: DatabaseRole;
  readonly #checks = new Map<Database, DatabaseChecks>();

  constructor(connections: Connections, context: DatabaseRole) {
    this.#connections = connections;
    this.#context = context;
  }

  async executable(caller: Caller | null, operations: readonly CompiledEndpoint[]): Promise<ReadonlySet<string>> {
    const role = selectRole(caller, this.#context);
    const endpoints = operations.map(({ endpoint }) => endpoint);
    const results = await Promise.all(endpoints.map((endpoint) => this.#checksFor(endpoint).check(role, endpoint)));
    return new Set(endpoints.filter((_, index) => results[index] === true).map(({ id }) => id));
  }

  #checksFor({ connection }: Endpoint): DatabaseChecks {
    const { main, named } = this.#connections;
    const database = connection === null ? main : named.get(connection)!;
    const checks = this.#checks.get(database) ?? new DatabaseChecks(database);
    this.#checks.set(database, checks);
    return checks;
  }
}

/** The columns of `privilegesSql`. */
type CheckRow = readonly [role: string | null, schema: string, name: string, types: string, privilege: string];

interface PendingCheck {
  readonly row: CheckRow;
  readonly result: Promise<boolean>;
  readonly resolve: (allowed: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The checks of one database, sent in batches. */
class DatabaseChecks {
  readonly #database: Database;
  #pending = new Map<string, PendingCheck>();
  #running = false;

  constructor(database: Database) {
    this.#database = database;
  }

  check(role: string | null, endpoint: Endpoint): Promise<boolean> {
    const row = checkRow(role, endpoint);
    const key = JSON.stringify(row);
    const existing = this.#pending.get(key);
    if (existing !== undefined) return existing.result;
    const check = pendingCheck(row);
    this.#pending.set(key, check);
    if (!this.#running) void this.#run();
    return check.result;
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Checks of the same turn of the event loop go into one query.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const all = [...this.#pending.values()];
      this.#pending = new Map();
      for (let start = 0; start < all.length; start += maxBatch) {
        // One query at a time: streams leave the connections to calls.
        await this.#send(all.slice(start, start + maxBatch));
      }
    }
    this.#running = false;
  }

  /** Never rejects. */
  async #send(checks: readonly PendingCheck[]): Promise<void> {
    try {
      const columns = [0, 1, 2, 3, 4].map((column) => arrayLiteral(checks.map(({ row }) => row[column]!)));
      const rows = await withTimeout(this.#database.query(privilegesSql, columns));
      for (const [index, { resolve }] of checks.entries()) resolve(rows[index]?.[0] === 't');
    } catch (error) {
      for (const { reject } of checks) reject(error);
    }
  }
}

function pendingCheck(row: CheckRow): PendingCheck {
  let resolve!: PendingCheck['resolve'];
  let reject!: PendingCheck['reject'];
  const result = new Promise<boolean>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  return { row, result, resolve, reject };
}

function checkRow(role: string | null, { schema, name, table, parameters }: Endpoint): CheckRow {
  if (table !== null) return [role, schema, name, '[]', table.operation.split(' ', 1)[0]!.toUpperCase()];
  // Names: databases that share endpoints have different OIDs of their types.
  return [role, schema, name, JSON.stringify(parameters.map(({ type }) => type.sql)), 'EXECUTE'];
}

/** @throws Problem 503 after the timeout */
async function withTimeout<Rows>(rows: Promise<Rows>): Promise<Rows> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const refuse = (): void => reject(new Problem('database-unavailable', { headers: ['retry-after', '1'] }));
    timer = setTimeout(refuse, queryTimeout);
  });
  try {
    return await Promise.race([rows, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
