/** The options of the gateway from the sections of the configuration. */
import { crudSource, type GatewayOptions, redisCache, type EndpointSource } from '@pgway/core';
import { authenticationOptions } from './authentication-options.ts';
import type { Configuration } from './config/schema.ts';
import { uploadOptions } from './upload-options.ts';

/** Options that the command sets, not the configuration. */
export type CommandOptions = Pick<
  GatewayOptions,
  'observer' | 'readDefinitions' | 'refreshOnNotify' | 'endpointCreateHandlers' | 'strict'
>;

/** @throws ConfigurationError for settings that contradict each other */
export async function gatewayOptions(
  configuration: Configuration,
  connectionString: string,
  commandOptions: CommandOptions,
): Promise<GatewayOptions> {
  const { gateway, crud, events } = configuration;
  const { nameConverter, ...options } = gateway;
  return {
    ...options,
    ...(nameConverter === 'none' ? { nameConverter: (name: string): string => name } : {}),
    events,
    ...cacheOptions(configuration),
    uploadOptions: await uploadOptions(configuration),
    authentication: authenticationOptions(configuration),
    connectionString,
    requestIdHeader: true,
    ...commandOptions,
    ...(crud.enabled ? { sourcesCreated: (sources) => addTableSource(sources, crud) } : {}),
  };
}

function cacheOptions({ cache }: Configuration): Partial<GatewayOptions> {
  const { redisUrl: url, redisPrefix: prefix, redisTimeout: timeout, redisMaxAge: maxAge } = cache;
  return {
    cacheEnabled: cache.enabled,
    maxCacheableRows: cache.maxRows,
    maxCacheableSize: cache.maxAnswerSize,
    maxCacheEntries: cache.maxEntries,
    maxCacheSize: cache.maxSize,
    cachePruneIntervalMin: cache.pruneIntervalMin,
    cacheInvalidateChannel: cache.invalidateChannel,
    ...(url === null || !cache.enabled ? {} : { defaultRoutineCache: redisCache({ url, prefix, timeout, maxAge }) }),
  };
}

/** Adds tables and views to the sources, or replaces the routines with them. */
function addTableSource(sources: EndpointSource[], crud: Configuration['crud']): void {
  const { enabled: _, routines, listingDefaultLimit, listingMaxLimit, ...options } = crud;
  if (!routines) sources.length = 0;
  const limits = { defaultLimit: listingDefaultLimit, maxLimit: listingMaxLimit };
  sources.push(crudSource({ ...options, listingLimits: limits }));
}
