/** The options of the gateway from the sections of the configuration. */
import { type CrudOptions, crudSource, type EndpointSource, type GatewayOptions, sqlFilesSource } from '@pgway/core';
import { excelFormat } from '@pgway/excel';
import { type PostgrestOptions, postgrestSource, type PostgrestSourceOptions } from '@pgway/postgrest';
import { postgrestSourceOptions, serverUrlPattern } from '@pgway/postgrest/internal';
import { redisBroadcast, redisCache } from '@pgway/redis';
import { authenticationOptions } from './authentication-options.ts';
import { maxCacheEntries } from './cache-limits.ts';
import type { Configuration } from './config/schema.ts';
import { maxUriLength } from './http/fixed-limits.ts';
import { rateLimitOptions } from './rate-limit-options.ts';
import { uploadOptions } from './upload-options.ts';
import type { SharedServices } from './workers/shared-services.ts';

/** Options that the command sets, not the configuration. */
export type CommandOptions = Pick<
  GatewayOptions,
  | 'observer'
  | 'observeRequests'
  | 'traceparent'
  | 'readDefinitions'
  | 'refreshOnNotify'
  | 'endpointCreateHandlers'
  | 'endpointsExplained'
  | 'strict'
> & {
  /** May replace sources, after all of them are in the list. */
  readonly wrapSources?: (sources: EndpointSource[]) => void;
  /** The folder that relative paths begin at. Absent: that of the process. */
  readonly workingDirectory?: string;
  /** Of a worker. */
  readonly shared?: SharedServices;
};

export async function gatewayOptions(
  configuration: Configuration,
  connectionString: string,
  { wrapSources, shared, workingDirectory, ...commandOptions }: CommandOptions,
): Promise<GatewayOptions> {
  const { gateway, changes, idempotency, readReplicas } = configuration;
  const { nameConverter, traceContext, ...options } = gateway;
  return {
    ...options,
    maxCacheEntries: maxCacheEntries(options),
    maxUriLength: maxUriLength(configuration.limits),
    // Log lines of the server have the id.
    requestIdHeader: true,
    traceContext: traceContext ?? (configuration.tracing.endpoint === null ? 'off' : 'application_name'),
    ...(nameConverter === 'none' ? { nameConverter: (name: string): string => name } : {}),
    readReplicas,
    idempotency,
    changes,
    events: eventsOptions(configuration),
    ...cacheOptions(configuration),
    rateLimits: rateLimitOptions(configuration),
    uploadOptions: await uploadOptions(configuration),
    rowFormats: [excelFormat()],
    tenant: tenantOptions(configuration),
    authentication: authenticationOptions(configuration),
    connectionString,
    ...commandOptions,
    ...(shared === undefined ? {} : sharedOptions(configuration, shared)),
    sourcesCreated: (sources) => {
      addTableSource(sources, configuration);
      addFileSource(sources, configuration, workingDirectory);
      wrapSources?.(sources);
    },
  };
}

/** Returns the options that workers have in place of those of the configuration. */
function sharedOptions(
  configuration: Configuration,
  { authentication, keys, cache, rateLimits, broadcast, changes, processes }: SharedServices,
): Partial<GatewayOptions> {
  const { dataProtection, ...own } = authenticationOptions(configuration);
  return {
    processes,
    changes: { ...configuration.changes, feed: changes },
    authentication: {
      ...own,
      ...authentication,
      dataProtection: keys === null ? { ...dataProtection } : { ...dataProtection, storage: keys },
    },
    ...(cache === null ? {} : { defaultRoutineCache: cache }),
    ...(rateLimits === null ? {} : { rateLimits: { ...rateLimitOptions(configuration), store: rateLimits } }),
    ...(broadcast === null ? {} : { events: { ...eventsOptions(configuration), broadcast } }),
  };
}

function tenantOptions({ tenant: { by, ...options } }: Configuration): NonNullable<GatewayOptions['tenant']> | null {
  return by === null ? null : { by, ...options };
}

/** Returns the options of events, with the broadcast through Redis if it is configured. */
function eventsOptions({ events, limits, name }: Configuration): NonNullable<GatewayOptions['events']> {
  const { broadcast, redisUrl: url, ...section } = events;
  // Each stream of HTTP/1.1 is a connection.
  const options = { ...section, maxStreams: limits.maxConnections, broadcastChannel: name };
  // A configuration without the address was refused.
  if (broadcast === 'redis') return { ...options, broadcast: redisBroadcast({ url: url!, channel: name }) };
  return { ...options, broadcast };
}

/** Returns the cache in Redis, if it is configured. */
function cacheOptions({
  name,
  gateway,
  redisCache: { url },
}: Configuration): Pick<GatewayOptions, 'defaultRoutineCache'> {
  return url === null || !gateway.cacheEnabled ? {} : { defaultRoutineCache: redisCache({ prefix: name, url }) };
}

/** Adds the SQL files, of which each pattern has a folder of its own. */
function addFileSource(
  sources: EndpointSource[],
  { sqlFiles, sqlFilesFolders }: Configuration,
  folder: string = '.',
): void {
  const files = typeof sqlFiles === 'string' ? [sqlFiles] : sqlFiles;
  if (files.length > 0) sources.push(sqlFilesSource({ files, folder, folderPaths: sqlFilesFolders }));
}

/** Adds tables and views to the sources, or replaces the routines with them. Without a setting, their comment opts in. */
function addTableSource(sources: EndpointSource[], { crud, gateway, openApi }: Configuration): void {
  const { enabled, routines, dialect, postgrest, ...options } = crud;
  const generalMode = gateway.commentsMode;
  if (enabled === false || (enabled === null && generalMode === 'ignore')) return;
  const commentsMode = options.commentsMode ?? (enabled === null ? 'onlyWithHttpTag' : null);
  if (!routines) sources.length = 0;
  const tables = { ...options, commentsMode };
  if (dialect !== 'postgrest') sources.push(crudSource(tables));
  if (dialect === null) return;
  const serverUrl = openApi.servers.find((url) => serverUrlPattern.test(url)) ?? null;
  sources.push(postgrestSource({ ...postgrestOptions({ ...tables, ...postgrest }), serverUrl }));
}

/** Returns the options of tables that the dialect has. */
function postgrestOptions(options: CrudOptions & PostgrestOptions): PostgrestSourceOptions {
  const entries = Object.entries(options).filter(([name]) => Object.hasOwn(postgrestSourceOptions.options, name));
  return Object.fromEntries(entries);
}
