/** Several databases with the same schema behind one gateway: one for each tenant. */
export interface TenantOptions {
  /**
   * The source of a request's tenant: the `Host` header (`host`), or a claim of the caller (`claim`). A client cannot choose the claim, but
   * any host: with `host`, credentials of one tenant are not valid for another one.
   */
  readonly by: 'host' | 'claim';
  /** The host names of tenants, such as `{tenant}.example.com`. Required with `by: 'host'`. */
  readonly host: string | null;
  /**
   * With `by: 'claim'`: the claim whose value is the tenant. With `by: 'host'`: the claim that names the tenant in tokens of the schemes `jwt`
   * and of the host's own schemes, which others may issue; required with these schemes.
   */
  readonly claim: string | null;
  /**
   * The tenant of requests for other host names, or of callers without the claim; null: they get a 404, or a 401 for anonymous callers and a
   * 403 for others.
   */
  readonly default: string | null;
  /** The connection string of every tenant, with `{tenant}` in the name of its database. */
  readonly connectionString: string | null;
  /** The connection strings of tenants, by the names of the tenants. They win over `connectionString` and `query`. */
  readonly connectionStrings: Readonly<Record<string, string>>;
  /**
   * The query that lists the tenants, run in the database of the gateway's `connectionString`. Its first column is the name of a tenant; the
   * second one, if any, its connection string, null for `tenant.connectionString`.
   */
  readonly query: string | null;
  /** Seconds after which the list of tenants is read again. Default 30. */
  readonly queryInterval: number;
  /**
   * A query whose result tells the version of a tenant's schema, such as the last migration. Tenants with the same result share endpoints,
   * so it must change with every change of the schema. Null: a hash of the catalog.
   */
  readonly versionQuery: string | null;
  /** The maximum number of connections to all tenants together. `poolSize` is the maximum for each tenant. Default 100. */
  readonly maxConnections: number;
  /** The maximum number of tenants in use at a time. The least recently used one is closed for another one. Default 1,000. */
  readonly maxOpen: number;
  /** Seconds without a request after which the connections and the cached data of a tenant are dropped. Default 600. */
  readonly idleTimeout: number;
}

export const tenantDefaults: Omit<TenantOptions, 'by'> = Object.freeze({
  host: null,
  claim: null,
  default: null,
  connectionString: null,
  connectionStrings: {},
  query: null,
  queryInterval: 30,
  versionQuery: null,
  maxConnections: 100,
  maxOpen: 1_000,
  idleTimeout: 600,
});
