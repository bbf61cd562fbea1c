import type { Authentication } from './open-authentication.ts';
import type { GatewayCache } from './open-cache.ts';
import { addDerivedEndpoints } from './derive-endpoints.ts';
import { adaptToCitus } from './adapt-to-citus.ts';
import { checkUploadCommands } from './check-upload-commands.ts';
import { checkValueQueries } from './check-value-queries.ts';
import { checkIdempotency } from './check-idempotency.ts';
import { idempotencyStore } from './options/idempotency-options.ts';
import { checkCatalog } from './check-catalog.ts';
import { keepEndpoints, readRoutines } from './read-routines.ts';
import { readConstraintsByConnection } from './constraints.ts';
import { functionsSource } from '../catalog/functions-source.ts';
import { readSessionEffects, unknownSessionEffects } from '../catalog/session-effects.ts';
import { mapInSlices, runInSlices } from '../catalog/slices.ts';
import type { Connections } from './connections.ts';
import type { Routine, SessionEffectsLookup } from '../catalog/routine.ts';
import type { EndpointSource } from './endpoint-source.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import type { EventStreams } from '../events/event-streams.ts';
import { indexStreams, pathSpellings } from '../events/index-streams.ts';
import type { Changes } from './open-changes.ts';
import { CompiledEndpoint } from '../request/compiled-endpoint.ts';
import { keepDescriber } from '../ports/dialect-description.ts';
import type { Observer } from '../ports/ports.ts';
import { buildEndpoints } from '../endpoints/build-endpoints.ts';
import { explainEndpoints } from '../endpoints/explanation.ts';
import type { PlanOptions } from '../endpoints/explain-values.ts';
import { canTryPlans } from '../endpoints/plan-trials.ts';
import { validateEndpointChanges, type EndpointChange } from '../endpoints/endpoint-changes.ts';
import { type Diagnostic, summarizeDiagnostics } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { deepFreeze } from '../endpoints/deep-freeze.ts';
import { groupBy } from '../endpoints/group-by.ts';
import { type BuiltInRoute, excludeBuiltInRoutes } from '../endpoints/duplicate-routes.ts';
import { needsReset, addSessionEffects } from '../endpoints/session-effects.ts';
import { canUseReplica } from '../endpoints/replica-reads.ts';
import { createRouter } from '../request/router.ts';
import type { RateLimits } from './open-rate-limits.ts';
import { RowNegotiation } from '../response/negotiate.ts';
import type { Uploads } from './open-uploads.ts';
import { StartError } from './start-error.ts';
import { toError } from '../to-error.ts';

/**
 * The endpoints of one catalog snapshot, compiled. A refresh replaces them. They have nothing of a database, so that databases with the same
 * schema share them.
 */
export interface LoadedEndpoints {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
  readonly router: RequestPipeline['router'];
  readonly dialects: RequestPipeline['dialects'];
  readonly streamDefinitions: RequestPipeline['streamDefinitions'];
  readonly changeTargets: RequestPipeline['changeTargets'];
  readonly streamRateLimits: RequestPipeline['streamRateLimits'];
  readonly logicalNames: RequestPipeline['logicalNames'];
  readonly constraints: RequestPipeline['constraints'];
  /** Whether a statement may change its session beyond the transaction. */
  readonly altersSession: (sql: string) => boolean;
}

/** The parts of a gateway that refreshes keep. */
export interface GatewayServices {
  readonly changes: Changes;
  readonly connections: Connections;
  readonly authentication: Authentication;
  readonly streams: EventStreams;
  readonly cache: GatewayCache;
  readonly uploads: Uploads;
  readonly rateLimits: RateLimits;
  readonly builtInRoutes: readonly BuiltInRoute[];
}

/** Returns the sources of endpoints. @throws StartError when a hook throws */
export async function listSources(options: ResolvedOptions): Promise<readonly EndpointSource[]> {
  const { query, readDefinitions } = options;
  const sources: EndpointSource[] = [
    ...(options.routineSources ?? [functionsSource({ query, definitions: readDefinitions })]),
  ];
  await runHook('sourcesCreated', () => options.sourcesCreated?.(sources));
  renameDuplicates(sources);
  return sources;
}

/**
 * Reads the sources, builds the endpoints and runs the start hooks.
 * @throws StartError when a hook throws, or for a diagnostic with severity error in strict mode
 */
export async function loadEndpoints(
  services: GatewayServices,
  sources: readonly EndpointSource[],
  options: ResolvedOptions,
  observe: Observer,
): Promise<LoadedEndpoints> {
  const { connections } = services;
  const [routines, main] = await Promise.all([
    readRoutines(sources, connections, options),
    readSessionEffects(connections.main, warnOfUnreadable(observe)),
  ]);
  const [connectionNames, uploads] = [[...connections.named.keys()], services.uploads.endpointOptions];
  const plan = await runInSlices(
    buildEndpoints(routines, { ...options, connectionNames, uploads }, keepEndpoints(connections, options)),
  );
  await report(plan.diagnostics, options, observe);
  const created = await runEndpointCreated(plan.endpoints, options);
  const rateLimits = [...services.rateLimits.byName.keys()];
  const changed = await runInSlices(validateEndpointChanges(created, { connectionNames, uploads, rateLimits }));
  await report(changed.diagnostics, options, observe);
  const reading = readConstraintsByConnection(changed.endpoints, connections, observe);
  const uses = await readSessionEffectsByConnection(changed.endpoints, main, { connections, observe });
  const statements = new Map(
    routines.flatMap(({ signature, statement }) => (statement === undefined ? [] : [[signature, statement]])),
  );
  const effects = { uses, connectionReset: options.connectionReset, statements };
  const used = await mapInSlices(changed.endpoints, (endpoint) => addSessionEffects(endpoint, effects));
  const adapted = await adaptToCitus(used, routines, connections, options);
  await report(adapted.diagnostics, options, observe);
  const reachable = await listReachable(adapted.endpoints, { sources, routines }, services, options);
  await report(reachable.diagnostics, options, observe);
  const endpoints = Object.freeze(reachable.endpoints);
  const snapshot = { routines, sources, endpoints, schemes: services.authentication.access.schemes };
  const checked = await checkCatalog(connections.main, snapshot, options, observe);
  await report(checked, options, observe);
  await runHook('endpointsCreated', () => options.endpointsCreated?.(endpoints));
  const { length: count } = endpoints;
  observe({ kind: 'endpoints-created', count });
  await mapInSlices(endpoints, (endpoint) => observe({ kind: 'endpoint-created', endpoint, count }));
  const generated = await runCreateHandlers(endpoints, options);
  await report(generated, options, observe);
  const later = [...changed.diagnostics, ...adapted.diagnostics, ...reachable.diagnostics, ...checked, ...generated];
  const steps = {
    changes: created,
    endpoints,
    diagnostics: [...plan.conflicts, ...later],
    plans: explainedPlans(connections, options),
  };
  await runHook('endpointsExplained', () =>
    options.endpointsExplained?.(deepFreeze(explainEndpoints(plan.traced, steps))),
  );
  return {
    endpoints,
    diagnostics: deepFreeze([...plan.diagnostics, ...later]),
    altersSession: sessionCheck(main, options),
    logicalNames: adapted.logicalNames,
    constraints: await reading,
    ...indexEndpoints(await compileEndpoints(endpoints, { sources, routines }, { ...services, options })),
  };
}

/**
 * Omits endpoints whose parameters have queries with mistakes, whose idempotency keys cannot be stored, and those with a route of the gateway itself. Adds those that sources make
 * of the others, and tells the sources.
 */
async function listReachable(
  endpoints: readonly Endpoint[],
  { sources, routines }: { readonly sources: readonly EndpointSource[]; readonly routines: readonly Routine[] },
  { connections, builtInRoutes, uploads }: GatewayServices,
  options: ResolvedOptions,
): Promise<Pick<LoadedEndpoints, 'endpoints' | 'diagnostics'>> {
  const prepared = await checkValueQueries(endpoints, connections);
  const stored = await checkIdempotency(prepared.endpoints, sources, connections, options);
  const reachable = excludeBuiltInRoutes(stored.endpoints, builtInRoutes);
  const commands = await checkUploadCommands(reachable.endpoints, uploads.endpointOptions, connections);
  const diagnostics = [...prepared.diagnostics, ...stored.diagnostics, ...reachable.diagnostics, ...commands];
  const reported = { endpoints: reachable.endpoints, diagnostics };
  const listed = await addDerivedEndpoints(reported, routines, sources, options.includeSchemas);
  // Before the hooks, which may describe endpoints.
  tellSources(listed.endpoints, sources);
  return listed;
}

function explainedPlans({ plans }: Connections, { planCacheMode }: ResolvedOptions): PlanOptions {
  const isMeasured = (endpoint: Endpoint): boolean =>
    plans !== null && canTryPlans(endpoint) && !endpoint.sessionEffects?.alters;
  return { planCacheMode, isMeasured };
}

/** A closure of `loadEndpoints` would retain the endpoints of all its steps. */
function sessionCheck(effects: SessionEffectsLookup, options: ResolvedOptions): LoadedEndpoints['altersSession'] {
  return (sql) => needsReset(effects.statement(sql), options);
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
  const { buildQuery } = source;
  return {
    name,
    read: (database, options) => source.read(database, options),
    ...(source.fingerprint === undefined
      ? {}
      : { fingerprint: (database, options) => source.fingerprint!(database, options) }),
    ...(buildQuery === undefined ? {} : { buildQuery: buildQuery.bind(null) }),
    ...(source.buildChanges === undefined ? {} : { buildChanges: source.buildChanges.bind(null) }),
    ...(source.dialect === undefined ? {} : { dialect: source.dialect }),
    ...(source.readsTables === undefined ? {} : { readsTables: source.readsTables }),
    endpointsLoaded: (endpoints) => source.endpointsLoaded?.(endpoints),
    deriveEndpoints: (endpoints, routines, includeSchemas) =>
      source.deriveEndpoints?.(endpoints, routines, includeSchemas) ?? [],
  };
}

/** Runs the handlers in the order that the host gave them. Returns their diagnostics, each once. */
async function runCreateHandlers(
  endpoints: readonly Endpoint[],
  { endpointCreateHandlers }: ResolvedOptions,
): Promise<readonly Diagnostic[]> {
  const byContent = new Map<string, Diagnostic>();
  for (const handler of endpointCreateHandlers) {
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

/** The comments of routines in the catalog, by source and signature. */
type CatalogComments = ReadonlyMap<string, ReadonlyMap<string, string | null>>;

function indexComments(routines: readonly Routine[]): CatalogComments {
  const comments = new Map<string, Map<string, string | null>>();
  for (const { source, signature, catalogComment } of routines) {
    if (catalogComment === undefined) continue;
    let known = comments.get(source!);
    if (known === undefined) comments.set(source!, (known = new Map()));
    known.set(signature, catalogComment);
  }
  return comments;
}

/** Tells each source its endpoints, so that dialects can describe them. */
function tellSources(endpoints: readonly Endpoint[], sources: readonly EndpointSource[]): void {
  for (const source of sources) {
    const own = endpoints.filter((endpoint) => endpoint.source === source.name);
    source.endpointsLoaded?.(own);
    if (source.dialect !== undefined) keepDescriber(own, source.dialect);
  }
}

/** Compiles the endpoints. A source with `buildQuery` builds the queries of its endpoints. */
async function compileEndpoints(
  endpoints: readonly Endpoint[],
  { sources, routines }: { readonly sources: readonly EndpointSource[]; readonly routines: readonly Routine[] },
  { authentication, uploads, rateLimits, options }: GatewayServices & { readonly options: ResolvedOptions },
): Promise<readonly CompiledEndpoint[]> {
  const builders = new Map(
    sources.map(({ name, buildQuery, buildChanges, dialect = null }) => [
      name,
      { queryBuilder: buildQuery?.bind(null) ?? null, dialect, changesBuilder: buildChanges?.bind(null) },
    ]),
  );
  const store = idempotencyStore(options.idempotency);
  const negotiation = new RowNegotiation(options.rowFormats ?? []);
  const comments = indexComments(routines);
  return mapInSlices(endpoints, (endpoint) => {
    // An invalid scheme fails the load, not the first request.
    if (endpoint.basicAuthentication !== null) authentication.access.endpointScheme(endpoint.basicAuthentication);
    return new CompiledEndpoint(endpoint, {
      ...builders.get(endpoint.source),
      // The routine of a named connection has its endpoint from the comment in the main database.
      catalogComment: endpoint.connection === null ? comments.get(endpoint.source)?.get(endpoint.id) : undefined,
      uploadHandlers: uploads.handlers,
      negotiation,
      idempotencyStore: store,
      canUseReplica: canUseReplica(endpoint, options.readReplicas.consistency),
      limitsUsers: endpoint.rateLimit !== null && rateLimits.byName.get(endpoint.rateLimit)!.needsCaller,
    });
  });
}

/** @throws StartError in strict mode */
async function report(diagnostics: readonly Diagnostic[], options: ResolvedOptions, observe: Observer): Promise<void> {
  await mapInSlices(summarizeDiagnostics(diagnostics), (diagnostic) => observe({ kind: 'diagnostic', diagnostic }));
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
    const { message } = toError(error);
    throw new StartError(`${hook} failed: ${message}`, { cause: error });
  }
}

/** Runs `endpointCreated` for each endpoint: null drops it, another endpoint replaces it, undefined keeps it. */
async function runEndpointCreated(
  planned: readonly Endpoint[],
  { endpointCreated }: ResolvedOptions,
): Promise<readonly EndpointChange[]> {
  if (endpointCreated === null) return planned.map((endpoint) => ({ original: endpoint, endpoint }));
  // The hook runs in order of the endpoints.
  const changes = await mapInSlices(planned, async (endpoint) => {
    const result = await runHook(`endpointCreated for ${endpoint.id}`, () => endpointCreated(endpoint));
    return result === null ? [] : [{ original: endpoint, endpoint: deepFreeze(result ?? endpoint) }];
  });
  return changes.flat();
}

/** Makes the routes of requests and event streams. */
function indexEndpoints(
  endpoints: readonly CompiledEndpoint[],
): Pick<LoadedEndpoints, 'router' | 'dialects' | 'streamDefinitions' | 'changeTargets' | 'streamRateLimits'> {
  return {
    router: createRouter(endpoints),
    dialects: listDialects(endpoints),
    streamDefinitions: indexStreams(endpoints),
    changeTargets: indexChangeTargets(endpoints),
    streamRateLimits: indexStreamRateLimits(endpoints),
  };
}

/** Returns the endpoints with streams of changes by every spelling of their path. */
function indexChangeTargets(endpoints: readonly CompiledEndpoint[]): LoadedEndpoints['changeTargets'] {
  const targets = endpoints.filter(
    ({ endpoint, changesBuilder }) => endpoint.changes !== undefined && changesBuilder !== undefined,
  );
  return new Map(
    targets.flatMap((target) => pathSpellings(target.endpoint.changes!.path).map((path) => [path, target] as const)),
  );
}

function listDialects(endpoints: readonly CompiledEndpoint[]): LoadedEndpoints['dialects'] {
  const byDialect = groupBy(endpoints, ({ dialect }) => dialect);
  return [...byDialect].flatMap(([dialect, own]) =>
    dialect === null ? [] : [{ dialect, findUnknown: dialect.findUnknown(own.map(({ endpoint }) => endpoint)) }],
  );
}

/** A stream of several endpoints has the limit of the first one with a limit. */
function indexStreamRateLimits(endpoints: readonly CompiledEndpoint[]): LoadedEndpoints['streamRateLimits'] {
  const entries = endpoints.flatMap(({ endpoint: { events, rateLimit } }) =>
    events === null || rateLimit === null ? [] : [[events.path, rateLimit] as const],
  );
  return new Map(entries.toReversed());
}
