import { commandTimeoutMs, type Connections } from './connections.ts';
import type { GatewayServices, LoadedEndpoints } from './load-endpoints.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Observer } from '../ports/ports.ts';
import { KeyPruner } from '../request/idempotency/prune-keys.ts';
import { idempotencyStore } from './options/idempotency-options.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import { requestHeaderOptions } from '../request/request-headers.ts';
import { sqlstateStatuses } from '../request/sqlstate.ts';
import { traceparentLookup } from '../request/trace-context.ts';

/** Makes the pipeline of a database from its services and the endpoints of its schema. */
export function createPipeline(
  loaded: LoadedEndpoints,
  { connections, authentication, streams, changes, cache, uploads, rateLimits }: GatewayServices,
  options: ResolvedOptions,
  observe: Observer,
): RequestPipeline {
  const { main, named, plans, provide, providedSettings } = connections;
  const hooks = selectHooks(options);
  return {
    database: main,
    namedDatabases: named,
    plans,
    readRouting: createReadRouting(connections, observe),
    timeout: commandTimeoutMs(options),
    slowClientTimeout: options.slowClientTimeout * 1_000,
    onNotice: (endpoint, notice) => observe({ kind: 'notice', endpoint, notice }),
    onCallCompleted: options.observeRequests
      ? (request, endpoint, milliseconds, rows) =>
          observe({ kind: 'call-completed', request, endpoint, milliseconds, rows })
      : null,
    traceparent: traceparentLookup(options),
    onSettingLeaked: (endpoint, setting) => observe({ kind: 'setting-leaked', endpoint, setting }),
    ...routesOf(loaded),
    changes: changes.feed(listChangedTables(loaded)),
    rateLimits: rateLimits.byName,
    streams,
    access: authentication.access,
    login: authentication.login,
    claimTypes: authentication.access.claimTypes,
    contextKeys: authentication.contextKeys,
    databaseRole: authentication.databaseRole,
    maxBodySize: options.maxBodySize,
    maxUriLength: options.maxUriLength,
    ignoreUnknown: options.unknownParameters === 'ignore',
    serverTiming: options.serverTiming,
    requestHeaders: {
      contextKey: options.requestHeadersContextKey,
      ...requestHeaderOptions(options.customRequestHeaders, options.requestHeadersExclude),
    },
    sessionSettings: providedSettings,
    provideConnection: provide,
    // Batches have other values: with all properties here, the copies that they make have the same fast shape.
    transactionContinues: false,
    authorizesRepeated: false,
    hasClaimedKey: false,
    hooks,
    responseCache: cache.responses,
    // A hook may refuse one caller and not another, and a claim of the caller may select the database.
    isPublic: hooks === null && !authentication.access.alwaysAuthenticate && options.tenant?.by !== 'claim',
    invalidation: cache.invalidation,
    problemOptions: createProblemOptions(options),
    uploads: uploads.execution,
    keyPruner: createKeyPruner(loaded.endpoints, options, observe),
    observe,
    logsCommands: options.logCommands,
    forcesGenericPlans: options.planCacheMode === 'force_generic_plan',
    observesRequests: options.observeRequests,
  };
}

function routesOf({
  router,
  dialects,
  streamDefinitions,
  changeTargets,
  streamRateLimits,
  logicalNames,
  constraints,
}: LoadedEndpoints): Omit<LoadedEndpoints, 'endpoints' | 'diagnostics' | 'altersSession'> {
  return { router, dialects, streamDefinitions, changeTargets, streamRateLimits, logicalNames, constraints };
}

function createProblemOptions(options: ResolvedOptions): RequestPipeline['problemOptions'] {
  return {
    format: options.errorFormat,
    showDatabaseMessage: options.returnGatewayExceptionMessage !== false,
    showRowDetails: options.returnGatewayExceptionMessage === 'withRow',
    explainsSetup: !options.authentication.production && process.env['NODE_ENV'] !== 'production',
    mappedCodes: { ...sqlstateStatuses, ...options.postgreSqlErrorCodeToHttpStatusCodeMapping },
  };
}

function createReadRouting({ replicas }: Connections, observe: Observer): RequestPipeline['readRouting'] {
  if (replicas === null) return null;
  return {
    replicas,
    loadedAt: performance.now(),
    onReplicaRefused: (endpoint, replica, error) => observe({ kind: 'read-refused', endpoint, replica, error }),
  };
}

/** Null without endpoints that accept idempotency keys, and without batches, which accept them too. */
function createKeyPruner(
  endpoints: LoadedEndpoints['endpoints'],
  { idempotency, batchPath }: ResolvedOptions,
  observe: Observer,
): KeyPruner | null {
  if (batchPath === null && endpoints.every((endpoint) => endpoint.idempotency === undefined)) return null;
  return new KeyPruner(idempotencyStore(idempotency), (error) =>
    observe({ kind: 'idempotency-keys-not-pruned', error }),
  );
}

function selectHooks({ validateParameters, commandCallback }: ResolvedOptions): RequestPipeline['hooks'] {
  return validateParameters === null && commandCallback === null ? null : { validateParameters, commandCallback };
}

/** Returns the tables whose changes are streamed, or tell subscribers to read again. */
function listChangedTables({ changeTargets }: LoadedEndpoints): ReturnType<typeof listRelations> {
  return [...changeTargets.values()].flatMap(({ endpoint }) => listRelations(endpoint));
}

function listRelations({ changes }: Endpoint): readonly { readonly schema: string; readonly name: string }[] {
  return changes === undefined ? [] : [changes.relation, ...changes.gapOn];
}
