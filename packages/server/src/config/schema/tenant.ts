import { z } from 'zod';
import { count, optionalText, secret } from './fields.ts';

const seconds = (byDefault: number, description: string): z.ZodDefault<z.ZodNumber> =>
  z.number().positive().max(86_400).default(byDefault).describe(description);

/** The section `tenant`: several databases with the same schema. */
export const tenantSection = z
  .strictObject({
    by: z
      .enum(['host', 'claim'])
      .nullable()
      .default(null)
      .describe(
        'What selects the database of a request: the `Host` header (`host`), or a claim of the caller (`claim`). Null: there are no tenants.',
      ),
    host: optionalText('The host names of tenants, such as `{tenant}.example.com`. Required with `by: host`.'),
    claim: optionalText(
      'With `by: claim`, the claim whose value is the tenant. With `by: host`, the claim that names the tenant in tokens of `jwt`, which is required with `jwt`.',
    ),
    default: optionalText(
      'The tenant of requests for other host names, or of callers without the claim; null: they are answered 404, or 401 and 403.',
    ),
    connectionString: secret(
      optionalText(
        'The connection string of every tenant that `query` lists, with `{tenant}` in the name of its database: `postgres://user:password@host/app_{tenant}`.',
      ),
    ),
    connectionStrings: secret(
      z
        .record(z.string(), z.string())
        .default({})
        .describe('The connection strings of tenants, by their names. They win over `query`.'),
    ),
    query: optionalText(
      'The query that lists the tenants, run in the database of the top-level `connectionString`. The first column is the name of a tenant; the second one, if any, its connection string, null for `tenant.connectionString`.',
    ),
    queryInterval: seconds(30, 'Seconds after which the list of tenants is read again.'),
    versionQuery: optionalText(
      'A query whose result tells the version of the schema of a tenant, such as the last migration. Tenants with the same result share endpoints. Null: a hash of the catalog.',
    ),
    maxConnections: count(
      100,
      'Maximum number of connections to all tenants together; `gateway.poolSize` is the maximum for each tenant.',
      100_000,
    ),
    maxOpen: count(
      1_000,
      'Maximum number of tenants in use at a time; the least recently used one is closed for another one.',
      100_000,
    ),
    idleTimeout: seconds(
      600,
      'Seconds without a request after which the connections and cached data of a tenant are dropped.',
    ),
  })
  .prefault({})
  .describe('Several databases with the same schema: one for each tenant.');
