import type { Authentication } from './open-authentication.ts';
import type { GatewayCache } from './open-cache.ts';
import { checkCatalog } from './check-catalog.ts';
import { functionsSource } from '../catalog/functions-source.ts';
import { readSessionEffects, unknownSessionEffects } from '../catalog/session-effects.ts';
import { commandTimeoutMs, type Connections } from './connections.ts';
import type { Routine, SessionEffectsLookup } from '../catalog/routine.ts';
import type { ResolvedOptions, EndpointSource } from './options/options.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import { type EventStreams, indexStreams } from '../events/event-streams.ts';
import { CompiledEndpoint } from '../request/compiled-endpoint.ts';
import type { Observer } from '../ports/ports.ts';
import { requestHeaderOptions } from '../request/request-headers.ts';
import { sqlstateStatuses } from '../request/sqlstate.ts';
import { buildEndpoints } from '../endpoints/build-endpoints.ts';
import { explainEndpoints } from '../endpoints/explanation.ts';
import { validateEndpointChanges, type EndpointChange } from '../endpoints/endpoint-changes.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { deepFreeze } from '../endpoints/deep-freeze.ts';
import { type BuiltInRoute, excludeBuiltInRoutes } from '../endpoints/duplicate-routes.ts';
import { needsReset, addSessionEffects } from '../endpoints/session-effects.ts';
import { createRouter } from '../request/router.ts';
import type { RateLimits } from './open-rate-limits.ts';
import { traceparentLookup } from '../request/trace-context.ts';
import type { Uploads } from './open-uploads.ts';
import { StartError } from './start-error.ts';

/** The endpoints of one catalog snapshot. A refresh replaces them. */
export interface LoadedEndpoints {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
  readonly pipeline: RequestPipeline;
  /** Whether a statement may change its session beyond the transaction. */
  readonly altersSession: (sql: string) => boolean;
}

/** The parts of a gateway that refreshes keep. */
export interface GatewayServices {
  readonly connections: Connections;
  readonly authentication: Authentication;
  readonly streams: EventStreams;
  readonly cache: GatewayCache;
  readonly uploads: Uploads;
  readonly rateLimits: RateLimits;
  readonly builtInRoutes: readonly BuiltInRoute[];
}

/**
 * Reads the sources, builds the endpoints and runs the start hooks.
 * @throws StartError when a hook throws, or for a diagnostic with severity error in strict mode
 */
export async function loadEndpoints(
  services: GatewayServices,
  options: ResolvedOptions,
  observe: Observer,
): Promise<LoadedEndpoints> {
  const { connections } = services;
  const { query, readDefinitions } = options;
  const sources: EndpointSource[] = [
    ...(options.routineSources ?? [functionsSource({ query, definitions: readDefinitions })]),
  ];
  await runHook('sourcesCreated', () => options.sourcesCreated?.(sources));
  renameDuplicates(sources);
  const routines = await readRoutines(sources, connections, options);
  const main = await readSessionEffects(connections.main, warnOfUnreadable(observe));
  const connectionNames = [...connections.named.keys()];
  const uploads = services.uploads.endpointOptions;
  const plan = buildEndpoints(routines, { ...options, connectionNames, uploads }, options.endpointsExplained !== null);
  report(plan.diagnostics, options, observe);
  const created = await runEndpointCreated(plan.endpoints, options);
  const changed = validateEndpointChanges(created, {
    connectionNames,
    uploads,
    rateLimits: [...services.rateLimits.byName.keys()],
  });
  report(changed.diagnostics, options, observe);
  const uses = await readSessionEffectsByConnection(changed.endpoints, main, { connections, observe });
  const used = addSessionEffects(changed.endpoints, {
    uses,
    connectionReset: options.connectionReset,
    statements: new Map(
      routines.flatMap(({ signature, statement }) => (statement === undefined ? [] : [[signature, statement]])),
    ),
  });
  const reachable = excludeBuiltInRoutes(used, services.builtInRoutes);
  report(reachable.diagnostics, options, observe);
  const endpoints = Object.freeze(reachable.endpoints);
  const checked = await checkCatalog(connections.main, { routines, sources, endpoints }, options, observe);
  report(checked, options, observe);
  await runHook('endpointsCreated', () => options.endpointsCreated?.(endpoints));
  for (const endpoint of endpoints) observe({ kind: 'endpoint-created', endpoint });
  const generated = await runCreateHandlers(endpoints, options);
  report(generated, options, observe);
  const later = [...changed.diagnostics, ...reachable.diagnostics, ...checked, ...generated];
  const steps = { changes: created, endpoints, diagnostics: [...plan.conflicts, ...later] };
  await runHook('endpointsExplained', () =>
    options.endpointsExplained?.(deepFreeze(explainEndpoints(plan.traced, steps))),
  );
  return {
    endpoints,
    diagnostics: deepFreeze([...plan.diagnostics, ...later]),
    altersSession: (sql) => needsReset(main.statement(sql), options),
    pipeline: createPipeline(services, compileEndpoints(endpoints, sources, services), options, observe),
  };
}

/** Renames sources that share a name but not `buildQuery`, as endpoints find their source by name: `name`, `name (2)`. */
function renameDuplicates(sources: EndpointSource[]): void {
  const builders = new Map<string, EndpointSource['buildQuery']>();
  for (const [index, source] of sources.entries()) {
    const { buildQuery } = source;
    let { name } = source;
    for (let number = 2; builders.has(name) && builders.get(name) !== buildQuery; number++) {
      name = `${source.name} (${number})`;
    }
    builders.set(name, buildQuery);
    if (name !== source.name) sources[index] = renameSource(source, name);
  }
}

function renameSource(source: EndpointSource, name: string): EndpointSource {
  const read: EndpointSource['read'] = (database, options) => source.read(database, options);
  return source.buildQuery === undefined ? { name, read } : { name, read, buildQuery: source.buildQuery.bind(null) };
}

async function readRoutines(
  sources: readonly EndpointSource[],
  { main }: Connections,
  options: ResolvedOptions,
): Promise<readonly Routine[]> {
  const read = await Promise.all(
    sources.map(async (source) => {
      const routines = await source.read(main, options);
      return routines.map((routine) => ({ ...routine, source: source.name }));
    }),
  );
  return read.flat();
}

/** Runs the handlers in the order that the host gave them. Returns their diagnostics, each once. */
async function runCreateHandlers(
  endpoints: readonly Endpoint[],
  { endpointCreateHandlers }: ResolvedOptions,
): Promise<readonly Diagnostic[]> {
  const byContent = new Map<string, Diagnostic>();
  for (const handler of endpointCreateHandlers) {
    // oxlint-disable-next-line no-await-in-loop
    const result = await runHook('a handler of endpointCreateHandlers', () => handler(endpoints));
    // TypeScript allows any result where `void` is expected.
    const diagnostics: readonly Diagnostic[] = Array.isArray(result) ? result : [];
    for (const diagnostic of diagnostics) byContent.set(JSON.stringify(diagnostic), diagnostic);
  }
  return [...byContent.values()];
}

/** A migration's locks may block reading view definitions. Then every call counts as one that changes its session. */
function warnOfUnreadable(observe: Observer): (reason: string) => void {
  return (reason) => {
    const message = `the definitions of routines and views could not be read (${reason}); until the next refresh, connections are reset after every call`;
    observe({ kind: 'start-warning', code: 'routines-not-read', message });
  };
}

/** Reads how routines and tables may change a session, by connection name (null: main). */
async function readSessionEffectsByConnection(
  endpoints: readonly Endpoint[],
  main: SessionEffectsLookup,
  { connections: { named }, observe }: { readonly connections: Connections; readonly observe: Observer },
): Promise<ReadonlyMap<string | null, SessionEffectsLookup>> {
  const names = [...new Set(endpoints.flatMap(({ connection }) => connection ?? []))];
  // The effects in an unavailable database stay unknown until the next refresh.
  const reads = names.map((name) =>
    readSessionEffects(named.get(name)!, warnOfUnreadable(observe)).catch(() => unknownSessionEffects),
  );
  const effects = await Promise.all(reads);
  return new Map([[null, main], ...names.map((name, index) => [name, effects[index]!] as const)]);
}

/** Compiles the endpoints. A source with `buildQuery` builds the queries of its endpoints. */
function compileEndpoints(
  endpoints: readonly Endpoint[],
  sources: readonly EndpointSource[],
  { authentication, uploads, rateLimits }: Pick<GatewayServices, 'authentication' | 'uploads' | 'rateLimits'>,
): readonly CompiledEndpoint[] {
  const queryBuilders = new Map(sources.map(({ name, buildQuery }) => [name, buildQuery?.bind(null) ?? null]));
  return endpoints.map((endpoint) => {
    return new CompiledEndpoint(endpoint, {
      queryBuilder: queryBuilders.get(endpoint.source) ?? null,
      endpointScheme: authentication.endpointScheme(endpoint),
      uploadHandlers: uploads.handlers,
      rateLimit: endpoint.rateLimit === null ? null : rateLimits.byName.get(endpoint.rateLimit)!,
    });
  });
}

/** @throws StartError in strict mode */
function report(diagnostics: readonly Diagnostic[], options: ResolvedOptions, observe: Observer): void {
  for (const diagnostic of diagnostics) observe({ kind: 'diagnostic', diagnostic });
  throwInStrictMode(diagnostics, options);
}

function throwInStrictMode(diagnostics: readonly Diagnostic[], { strict }: ResolvedOptions): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (!strict || errors.length === 0) return;
  const lines = errors.map(
    ({ routine, line, message }) => `${routine}${line === null ? '' : ` line ${line}`}: ${message}`,
  );
  throw new StartError(`strict mode: ${lines.join('; ')}`);
}

/** Runs a hook of the host program. @throws StartError that names the hook, for any error of it */
async function runHook<Result>(hook: string, run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw new StartError(`${hook} failed: ${message}`, { cause: error });
  }
}

/** Runs `endpointCreated` for each endpoint: null drops it, another endpoint replaces it, undefined keeps it. */
async function runEndpointCreated(
  planned: readonly Endpoint[],
  { endpointCreated }: ResolvedOptions,
): Promise<readonly EndpointChange[]> {
  const changes: EndpointChange[] = [];
  for (const endpoint of planned) {
    // Hooks run in order of the endpoints.
    // oxlint-disable-next-line no-await-in-loop
    const result = await runHook(`endpointCreated for ${endpoint.id}`, () => endpointCreated?.(endpoint));
    if (result !== null) changes.push({ original: endpoint, endpoint: deepFreeze(result ?? endpoint) });
  }
  return changes;
}

/** Returns the rate limits by the path of their stream. A stream of several endpoints has the limit of the first one with a limit. */
function indexStreamRateLimits(endpoints: readonly CompiledEndpoint[]): RequestPipeline['streamRateLimits'] {
  const entries = endpoints.flatMap(({ endpoint: { events }, rateLimit }) =>
    events === null || rateLimit === null ? [] : [[events.path, rateLimit] as const],
  );
  return new Map(entries.toReversed());
}

function createPipeline(
  { connections: { main, named, provide, providedSettings }, authentication, streams, cache, uploads }: GatewayServices,
  endpoints: readonly CompiledEndpoint[],
  options: ResolvedOptions,
  observe: Observer,
): RequestPipeline {
  const { validateParameters, commandCallback } = options;
  const hooks =
    validateParameters === null && commandCallback === null ? null : { validateParameters, commandCallback };
  return {
    database: main,
    namedDatabases: named,
    timeout: commandTimeoutMs(options),
    slowClientTimeout: options.slowClientTimeout * 1_000,
    onNotice: (endpoint, notice) => observe({ kind: 'notice', endpoint, notice }),
    onCallCompleted: options.observeRequests
      ? (request, endpoint, milliseconds, rows) =>
          observe({ kind: 'call-completed', request, endpoint, milliseconds, rows })
      : null,
    traceparent: traceparentLookup(options),
    onSettingLeaked: (endpoint, setting) => observe({ kind: 'setting-leaked', endpoint, setting }),
    router: createRouter(endpoints),
    streamDefinitions: indexStreams(endpoints),
    streamRateLimits: indexStreamRateLimits(endpoints),
    streams,
    access: authentication.access,
    login: authentication.login,
    claimTypes: authentication.access.claimTypes,
    contextKeys: authentication.contextKeys,
    databaseRole: authentication.databaseRole,
    maxBodySize: options.maxBodySize,
    maxUriLength: options.maxUriLength,
    ignoreUnknown: options.unknownParameters === 'ignore',
    requestHeaders: {
      contextKey: options.requestHeadersContextKey,
      ...requestHeaderOptions(options.customRequestHeaders, options.requestHeadersExclude),
    },
    sessionSettings: providedSettings,
    provideConnection: provide,
    hooks,
    responseCache: cache.responses,
    // A hook may refuse one caller and not another.
    isPublic: hooks === null && !authentication.access.alwaysAuthenticate,
    invalidation: cache.invalidation,
    problemOptions: {
      format: options.errorFormat,
      showDatabaseMessage: options.returnGatewayExceptionMessage,
      showRowDetails: options.returnRowDetails,
      mappedCodes: { ...sqlstateStatuses, ...options.postgreSqlErrorCodeToHttpStatusCodeMapping },
    },
    uploads: uploads.execution,
    observe,
    logsCommands: options.logCommands,
    observesRequests: options.observeRequests,
  };
}
