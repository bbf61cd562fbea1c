import { type ConnectionSettings, parseConnectionString } from '../../postgres/connection-string.ts';
import type { Database, TextTable } from '../../postgres/port.ts';
import type { Observer } from '../../ports/ports.ts';
import type { TenantOptions } from '../options/tenant-options.ts';
import { OptionsError, toStartError } from '../start-error.ts';
import { isTenantName, placeholder, tenantNameRule } from './tenant-name.ts';
import { toError } from '../../to-error.ts';

type Tenants = ReadonlyMap<string, ConnectionSettings>;

/** Characters of a name in a message. */
const maxQuotedLength = 100;

/** Creates the connection settings of a tenant. */
export type ConnectionTemplate = (tenant: string) => ConnectionSettings;

/**
 * Compiles a connection string with the placeholder in the name of its database. The name of a tenant becomes a part of the parsed setting,
 * never of the text of a connection string.
 * @throws OptionsError for an invalid connection string, and for a placeholder at another place
 */
export function compileConnectionTemplate(text: string): ConnectionTemplate {
  const { database = '', ...settings } = parse(text, 'tenant.connectionString');
  const parts = database.split(placeholder);
  if (parts.length !== 2 || JSON.stringify(settings).includes(placeholder)) {
    throw new OptionsError(
      `tenant.connectionString: must have ${placeholder} once, in the name of the database, such as postgres://user:password@localhost/app_${placeholder}`,
    );
  }
  return (tenant) => ({ ...settings, database: parts.join(tenant) });
}

/** The tenants of the configuration, and those that the query lists. Other names are unknown, without a question to a database. */
export class TenantDirectory {
  readonly #options: TenantOptions;
  readonly #observe: Observer;
  readonly #database: Database;
  readonly #template: ConnectionTemplate | null;
  readonly #configured: Tenants;
  #tenants: Tenants;
  #reading: Promise<void> | null = null;
  /** By `performance.now()`. */
  #readAgainAt = Number.POSITIVE_INFINITY;
  /** The faults that have been reported, each once. */
  #reported: ReadonlySet<string> = new Set();

  /**
   * @param database runs the query
   * @throws OptionsError for an invalid connection string
   */
  constructor(options: TenantOptions, database: Database, observe: Observer) {
    const { connectionString, connectionStrings } = options;
    this.#options = options;
    this.#observe = observe;
    this.#database = database;
    this.#template = connectionString === null ? null : compileConnectionTemplate(connectionString);
    this.#configured = new Map(
      Object.entries(connectionStrings).map(([name, text]) => {
        return [name, parse(text, `tenant.connectionStrings[${JSON.stringify(name)}]`)] as const;
      }),
    );
    this.#tenants = this.#configured;
  }

  get size(): number {
    return this.#tenants.size;
  }

  /** Returns how to connect to a tenant; undefined for an unknown one. An old list is read again meanwhile. */
  find(name: string): ConnectionSettings | undefined {
    if (performance.now() >= this.#readAgainAt) {
      this.read().catch((error: unknown) => this.#observe({ kind: 'tenants-not-read', error: toError(error) }));
    }
    return this.#tenants.get(name);
  }

  /**
   * Reads the list of tenants, once for concurrent calls.
   * @throws the errors of the database; the old list stays
   */
  read(): Promise<void> {
    const { query, queryInterval } = this.#options;
    if (query === null) return Promise.resolve();
    this.#readAgainAt = Number.POSITIVE_INFINITY;
    this.#reading ??= this.#read(query).finally(() => {
      this.#reading = null;
      this.#readAgainAt = performance.now() + queryInterval * 1_000;
    });
    return this.#reading;
  }

  async #read(query: string): Promise<void> {
    const rows = await this.#database.query(query, [], { altersSession: true });
    this.#tenants = new Map([...this.#toTenants(rows), ...this.#configured]);
  }

  #toTenants(rows: TextTable): Tenants {
    const tenants = new Map<string, ConnectionSettings>();
    const faults = new Set<string>();
    for (const [name = null, connectionString = null] of rows) {
      const result = this.#toSettings(name, connectionString);
      if (typeof result === 'string') faults.add(result);
      else tenants.set(name!, result);
    }
    this.#report(faults);
    return tenants;
  }

  /** A string is a fault. */
  #toSettings(name: string | null, connectionString: string | null): ConnectionSettings | string {
    const quoted = name === null ? 'NULL' : JSON.stringify(name.slice(0, maxQuotedLength));
    if (name === null || !isTenantName(name)) return `${quoted} ${tenantNameRule}`;
    if (connectionString === null) {
      return this.#template?.(name) ?? `${quoted} has no connection string; set tenant.connectionString`;
    }
    try {
      return parse(connectionString, quoted);
    } catch (error) {
      return (error as Error).message;
    }
  }

  #report(faults: ReadonlySet<string>): void {
    for (const fault of faults) {
      if (this.#reported.has(fault)) continue;
      this.#observe({ kind: 'start-warning', code: 'invalid-tenant', message: `tenant.query: ${fault}` });
    }
    this.#reported = faults;
  }
}

/** @throws OptionsError without the connection string, which may hold a password */
function parse(text: string, where: string): ConnectionSettings {
  try {
    return parseConnectionString(text);
  } catch (error) {
    throw new OptionsError(`${where}: ${toStartError(error).message}`, { cause: error });
  }
}
