import {
  batchOptions,
  cacheOptions,
  connectionOptions,
  endpointFormOptions,
  filterOptions,
  generalOptions,
  logOptions,
  nullable,
  oneOf,
  option,
} from '@pgway/core/internal';
import { fileOptions, section, changed } from './section.ts';

const general = generalOptions.options;

/** The section `gateway`: options of the gateway, with its names, units and defaults but for a few. */
export const gatewaySection = section('Which routines become endpoints, and how they respond.', {
  ...fileOptions(endpointFormOptions),
  ...fileOptions(filterOptions),
  ...fileOptions(
    connectionOptions,
    'connectionString',
    'processes',
    // Parameters of the connection string.
    'minPoolSize',
    'connectionLifetime',
    'connectionIdleLifetime',
  ),
  ...fileOptions(generalOptions, 'readDefinitions', 'observeRequests', 'requestIdHeader', 'maxUriLength'),
  ...fileOptions(batchOptions, 'maxBatchResponseSize'),
  ...fileOptions(cacheOptions, 'maxCacheableRows', 'maxCacheEntries'),
  ...fileOptions(logOptions),
  // In the library a function.
  nameConverter: option(
    oneOf('camelCase', 'none'),
    'camelCase',
    'Names of parameters and columns in requests and responses: `customer_id` as `customerId`, or unchanged.',
  ),
  traceContext: option(
    nullable(general.traceContext),
    null,
    'Whether calls of sampled requests set `application_name` to the trace context of their request, for the log and the monitoring of PostgreSQL; null: with `tracing.endpoint`.',
  ),
  // Shows the entries of the built-in table that the specification names.
  postgreSqlErrorCodeToHttpStatusCodeMapping: changed(general.postgreSqlErrorCodeToHttpStatusCodeMapping, {
    default: { 57014: 205, P0001: 400, P0004: 400 },
  }),
});
