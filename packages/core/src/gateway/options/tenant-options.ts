import { option, optionGroup, type OptionGroup, requiredOption } from '../../validation/option.ts';
import { integer, nonEmptyString, nullable, number, oneOf, recordOf, secret } from '../../validation/validators.ts';
import { isTenantName, tenantNameRule } from '../tenants/tenant-name.ts';
import type { TenantOptions } from './options.generated.ts';

export type { TenantOptions } from './options.generated.ts';

const optionalText = nullable(nonEmptyString);
const seconds = number({ above: 0, max: 86_400 });
const count = integer({ min: 1, max: 100_000 });

export const tenantOptions: OptionGroup<TenantOptions> = optionGroup<TenantOptions>(
  'TenantOptions',
  'Several databases with the same schema: one for each tenant.',
  {
    by: requiredOption(
      oneOf('host', 'claim'),
      'What selects the database of a request: the `Host` header (`host`), or a claim of the caller (`claim`). A client cannot choose the claim, but any host: with `host`, credentials of one tenant are not valid for another one.',
    ),
    host: option(
      optionalText,
      null,
      'The host names of tenants, such as `{tenant}.example.com`. Required with `by: host`.',
    ),
    claim: option(
      optionalText,
      null,
      'With `by: claim`, the claim whose value is the tenant. With `by: host`, the claim that names the tenant in tokens of `jwt` and of custom schemes, which others may issue; required with these schemes.',
    ),
    default: option(
      optionalText,
      null,
      'The tenant of requests for other host names, or of callers without the claim; null: they are answered 404, or 401 and 403.',
    ),
    connectionString: option(
      nullable(secret),
      null,
      'The connection string of every tenant that `query` lists, with `{tenant}` in the name of its database: `postgres://user:password@host/app_{tenant}`.',
    ),
    connectionStrings: option(
      recordOf(secret, (name) => (isTenantName(name) ? null : tenantNameRule)),
      {},
      'The connection strings of tenants, by their names. They win over `query`.',
    ),
    query: option(
      optionalText,
      null,
      'The query that lists the tenants, run in the database of the top-level `connectionString`. The first column is the name of a tenant; the second one, if any, its connection string, null for `tenant.connectionString`.',
    ),
    queryInterval: option(seconds, 30, 'Seconds after which the list of tenants is read again.'),
    versionQuery: option(
      optionalText,
      null,
      'A query whose result tells the version of the schema of a tenant, such as the last migration. Tenants with the same result share endpoints, so it must change with every change of the schema. Null: a hash of the catalog.',
    ),
    maxConnections: option(
      count,
      100,
      'Maximum number of connections to all tenants together; `poolSize` is the maximum for each tenant.',
    ),
    maxOpen: option(
      count,
      1_000,
      'Maximum number of tenants in use at a time; the least recently used one is closed for another one.',
    ),
    idleTimeout: option(
      seconds,
      600,
      'Seconds without a request after which the connections and cached data of a tenant are dropped.',
    ),
  },
);
