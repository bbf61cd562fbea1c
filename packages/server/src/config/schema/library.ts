/** Sections with the options of one part of the library each, with its names, units and defaults but for a few. */
import {
  arrayOf,
  changesOptions,
  crudOptions,
  csvUploadOptions,
  defaultUploadHandlerOptions,
  eventsOptions,
  fileSystemUploadOptions,
  idempotencyOptions,
  listingLimits,
  nullable,
  oneOf,
  option,
  rateLimitsOptions,
  readReplicasOptions,
  tableOperations,
  tenantOptions,
  uploadOptions,
} from '@pgway/core/internal';
import { httpFileOptions, openApiOptions, typescriptClientOptions } from '@pgway/generators/internal';
import { databaseTypesOptions, postgrestOptions } from '@pgway/postgrest/internal';
import { realtimeOptions } from '@pgway/realtime/internal';
import { redisCacheOptions, redisRateLimitsOptions } from '@pgway/redis/internal';
import { flag, optionalFlag, optionalPath, optionalSecret } from './fields.ts';
import { fileOptions, section, changed } from './section.ts';

export const readReplicasSection = section('Read replicas of the database.', fileOptions(readReplicasOptions));

export const crudSection = section('Tables and views as endpoints (CRUD).', {
  enabled: optionalFlag(
    'Publishes tables and views. Null: only those whose comment has an `HTTP` line, unless `gateway.commentsMode` is `ignore`. True: those that `commentsMode` selects. False: none.',
  ),
  routines: flag(true, 'Publishes routines as well; false: tables and views only.'),
  ...fileOptions(crudOptions),
  listingLimits: section(listingLimits.description, fileOptions(listingLimits)),
  dialect: option(
    nullable(oneOf('postgrest', 'both')),
    null,
    'The spelling of requests and responses: `postgrest` has that of PostgREST, at `postgrest.path`, in place of the endpoints of pgway; `both` has each at its own paths; null: that of pgway.',
  ),
  postgrest: section(postgrestOptions.description, fileOptions(postgrestOptions)),
  // A list only, as variables have it.
  crudTypes: option(arrayOf(oneOf(...tableOperations, 'all')), ['all'], crudOptions.options.crudTypes.description),
});

export const tenantSection = section(tenantOptions.description, {
  ...fileOptions(tenantOptions, 'maxOpen', 'queryInterval', 'idleTimeout'),
  by: option(
    nullable(tenantOptions.options.by),
    null,
    `${tenantOptions.options.by.description} Null: there are no tenants.`,
  ),
});

export const eventsSection = section(eventsOptions.description, {
  ...fileOptions(
    eventsOptions,
    'maxStreams',
    'maxQueuedBytes',
    'replayEvents',
    'replaySeconds',
    'replayBytes',
    'customServerSentEventsResponseHeaders',
    'broadcastChannel',
  ),
  broadcast: option(
    oneOf('local', 'postgres', 'redis'),
    'local',
    'How several instances share events, refreshes and logouts: not at all, by NOTIFY of the database, or by Redis or Valkey.',
  ),
  redisUrl: optionalSecret(
    '`redis://user:password@host:6379`, `rediss://…` for TLS, or `redis-sentinel://host:26379,host:26379/name` for Sentinel.',
  ),
});

export const changesSection = section(changesOptions.description, fileOptions(changesOptions));

export const realtimeSection = section(realtimeOptions.description, {
  path: optionalPath(`${realtimeOptions.options.path.description} Null: not served.`),
  ...fileOptions(realtimeOptions, 'path', 'allowedOrigins', 'maxConnections'),
});

export const idempotencySection = section(
  idempotencyOptions.description,
  fileOptions(idempotencyOptions, 'maxResponseSize', 'pruneInterval'),
);

export const rateLimitsSection = section(
  'Rate limits of endpoints. With several instances, `redisRateLimits` makes them count together.',
  fileOptions(rateLimitsOptions, 'maxKeys'),
  rateLimitsOptions.check,
);

export const redisCacheSection = section(
  'The response cache in Redis or Valkey; `gateway.cacheEnabled` and the other settings of the cache are in `gateway`.',
  {
    ...fileOptions(redisCacheOptions, 'prefix', 'timeout', 'maxAge'),
    url: optionalSecret(`${redisCacheOptions.options.url.description} Null: responses are cached in memory.`),
  },
);

export const redisRateLimitsSection = section('The rate limits in Redis or Valkey.', {
  ...fileOptions(redisRateLimitsOptions, 'prefix', 'timeout', 'lease'),
  url: optionalSecret(`${redisRateLimitsOptions.options.url.description} Null: requests are counted in memory.`),
});

const handlerOptions = fileOptions(
  defaultUploadHandlerOptions,
  'stopAfterFirstSuccess',
  'bufferSize',
  'testBufferSize',
  'nonPrintableThreshold',
  'fileSystem',
  'csv',
);

const handlers = oneOf('large_object', 'file_system', 'csv', 'excel');

export const uploadsSection = section('File uploads: endpoints with `upload` in their comment.', {
  ...fileOptions(uploadOptions, 'maxParts', 'minUploadRate', 'maxUploadConnections', 'uploadQueueTimeout'),
  uploadHandlers: option(
    arrayOf(handlers),
    ['large_object', 'file_system', 'csv', 'excel'],
    'The handlers that comments can select: `large_object`, `file_system`, `csv` and `excel`. An empty list disables uploads.',
  ),
  defaultUploadHandler: changed(uploadOptions.options.defaultUploadHandler, {
    description:
      'The handler of comments that name none. Without `large_object` in `uploadHandlers`, the default has no effect.',
  }),
  defaultUploadHandlerOptions: section(defaultUploadHandlerOptions.description, {
    ...handlerOptions,
    // What a file has to look like and which command its rows run is said by the comment of each endpoint.
    fileSystem: section(
      fileSystemUploadOptions.description,
      fileOptions(fileSystemUploadOptions, 'file', 'createPath'),
    ),
    csv: section(csvUploadOptions.description, { delimiters: csvUploadOptions.options.delimiters }),
  }),
});

export const typescriptClientSection = section(
  'The typed client that `pgway generate` writes.',
  fileOptions(typescriptClientOptions, 'host', 'urlPathPrefix', 'batchPath', 'xsrfTokenHeaderName'),
);

export const httpFileSection = section('Request files (`.http`) for the REST clients of editors.', {
  ...fileOptions(httpFileOptions, 'option', 'host', 'databaseName', 'fileMode', 'commentHeaderIncludeComments'),
  namePattern: changed(httpFileOptions.options.namePattern, {
    default: '{0}',
    description: `${httpFileOptions.options.namePattern.description} With \`{1}\`, there is one file for each schema.`,
  }),
  path: optionalPath(
    'The path where the server serves the file; with one file per schema, `<path>/<name>.http`. Null: not served.',
  ),
});

export const databaseTypesSection = section(databaseTypesOptions.description, fileOptions(databaseTypesOptions));

export const openApiSection = section('The OpenAPI 3.1 document.', {
  ...fileOptions(openApiOptions, 'urlPathPrefix', 'batchPath', 'useRoutineNameInsteadOfEndpoint'),
  path: optionalPath('The path where the server serves the document, as in `/openapi.json`. Null: not served.'),
  docsPath: optionalPath(
    'The path where the server serves the API docs as an HTML page, as in `/docs`. Null: not served.',
  ),
});
