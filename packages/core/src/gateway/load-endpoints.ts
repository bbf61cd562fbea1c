import type { Authentication } from './open-authentication.ts';
import type { GatewayCache } from './open-cache.ts';
import { checkCatalog } from './check-catalog.ts';
import { functionsSource } from '../catalog/functions-source.ts';
import { readSessionEffects, unknownSessionEffects } from '../catalog/session-effects.ts';
import { commandTimeout, type Connections } from './connections.ts';
import type { Routine, SessionEffectsLookup } from '../catalog/routine.ts';
import type { ResolvedOptions, EndpointSource } from './options/options.ts';
import type { Pipeline } from '../request/pipeline.ts';
import { type EventStreams, indexStreams } from '../events/event-streams.ts';
import { CompiledEndpoint } from '../request/compiled-endpoint.ts';
import type { Observer } from '../ports/ports.ts';
import { requestHeaderOptions } from '../request/request-headers.ts';
import { sqlstateStatuses } from '../request/sqlstate.ts';
import { buildEndpoints } from '../endpoints/build-endpoints.ts';
import { validateEndpointChanges, type EndpointChange } from '../endpoints/endpoint-changes.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { deepFreeze } from '../endpoints/deep-freeze.ts';
import { type BuiltInRoute, excludeBuiltInRoutes } from '../endpoints/duplicate-routes.ts';
import { needsReset, addSessionEffects } from '../endpoints/session-effects.ts';
import { createRouter } from '../request/router.ts';
import { StartError } from './start-error.ts';

/** One reading of the catalog and all that was made of it; a refresh makes another one. */
export interface LoadedEndpoints {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
  readonly pipeline: Pipeline;
  /** Whether a statement may leave something in its session. */
  readonly altersSession: (sql: string) => boolean;
}

/** What lives longer than one reading. */
export interface GatewayServices {
  readonly connections: Connections;
  readonly authentication: Authentication;
  readonly streams: EventStreams;
  readonly caching: GatewayCache;
  /** What the gateway answers itself. */
  readonly own: readonly BuiltInRoute[];
}

/** Reads the sources, plans, lets the host's callbacks have their say, and makes what requests need. */
export async function loadEndpoints(
  parts: GatewayServices,
  options: ResolvedOptions,
  observe: Observer,
): Promise<LoadedEndpoints> {
  const { connections, authentication } = parts;
  const { query, readDefinitions: definitions } = options;
  const sources: EndpointSource[] = [...(options.routineSources ?? [functionsSource({ query, definitions })])];
  await asked('sourcesCreated', () => options.sourcesCreated?.(sources));
  const routines = await readAll(sources, connections, options);
  const main = await readSessionEffects(connections.main, warnOfUnread(observe));
  const connectionNames = [...connections.named.keys()];
  const plan = buildEndpoints(routines, { ...options, connectionNames });
  tell(plan.diagnostics, options, observe);
  const changed = validateEndpointChanges(await reviewed(plan.endpoints, options), connectionNames);
  tell(changed.diagnostics, options, observe);
  const uses = await sessionUsesOf(changed.endpoints, main, { connections, observe });
  const used = addSessionEffects(changed.endpoints, {
    uses,
    connectionReset: options.connectionReset,
    statements: new Map(
      routines.flatMap(({ signature, statement }) => (statement === undefined ? [] : [[signature, statement]])),
    ),
  });
  const reachable = excludeBuiltInRoutes(used, parts.own);
  tell(reachable.diagnostics, options, observe);
  const endpoints = Object.freeze(reachable.endpoints);
  const checked = await checkCatalog(connections.main, { routines, sources, endpoints }, options, observe);
  tell(checked, options, observe);
  await asked('endpointsCreated', () => options.endpointsCreated?.(endpoints));
  for (const endpoint of endpoints) observe({ kind: 'endpoint-created', endpoint });
  const generated = await runCreateHandlers(endpoints, options);
  tell(generated, options, observe);
  return {
    endpoints,
    diagnostics: deepFreeze([
      ...plan.diagnostics,
      ...changed.diagnostics,
      ...reachable.diagnostics,
      ...checked,
      ...generated,
    ]),
    altersSession: (sql) => needsReset(main.statement(sql), options),
    pipeline: pipelineOf(parts, operationsOf(endpoints, sources, authentication), options, observe),
  };
}

async function readAll(
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
    const answer = await asked('a handler of endpointCreateHandlers', () => handler(endpoints));
    // A handler of the host may return anything that TypeScript takes for void.
    const diagnostics: readonly Diagnostic[] = Array.isArray(answer) ? answer : [];
    for (const diagnostic of diagnostics) byContent.set(JSON.stringify(diagnostic), diagnostic);
  }
  return [...byContent.values()];
}

/** While a migration holds locks, PostgreSQL may not show the text of views: each call may do anything then. */
function warnOfUnread(observe: Observer): (reason: string) => void {
  return (reason) => {
    const message = `the text of routines and views could not be read (${reason}): until the next refresh, connections are reset after every call`;
    observe({ kind: 'start-warning', code: 'routines-not-read', message });
  };
}

/** Reads what routines and tables may do to a session, in each database that endpoints name. */
async function sessionUsesOf(
  endpoints: readonly Endpoint[],
  main: SessionEffectsLookup,
  { connections: { named }, observe }: { readonly connections: Connections; readonly observe: Observer },
): Promise<ReadonlyMap<string | null, SessionEffectsLookup>> {
  const names = [...new Set(endpoints.flatMap(({ connection }) => connection ?? []))];
  // What a database that is away would say is not known until the endpoints are read again.
  const read = names.map((name) =>
    readSessionEffects(named.get(name)!, warnOfUnread(observe)).catch(() => unknownSessionEffects),
  );
  const uses = await Promise.all(read);
  return new Map([[null, main], ...names.map((name, index) => [name, uses[index]!] as const)]);
}

/** A source that makes its own commands makes those of its own endpoints. */
function operationsOf(
  endpoints: readonly Endpoint[],
  sources: readonly EndpointSource[],
  authentication: Authentication,
): readonly CompiledEndpoint[] {
  const makers = new Map(sources.map(({ name, buildQuery: command }) => [name, command?.bind(null) ?? null]));
  return endpoints.map((endpoint) => {
    const make = makers.get(endpoint.source) ?? null;
    return new CompiledEndpoint(endpoint, {
      queryBuilder: make,
      endpointScheme: authentication.endpointScheme(endpoint),
    });
  });
}

function tell(diagnostics: readonly Diagnostic[], options: ResolvedOptions, observe: Observer): void {
  for (const diagnostic of diagnostics) observe({ kind: 'diagnostic', diagnostic });
  refuseErrors(diagnostics, options);
}

function refuseErrors(diagnostics: readonly Diagnostic[], { strict }: ResolvedOptions): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (!strict || errors.length === 0) return;
  const lines = errors.map(
    ({ routine, line, message }) => `${routine}${line === null ? '' : ` line ${line}`}: ${message}`,
  );
  throw new StartError(`${errors.length} endpoints are not as written: ${lines.join('; ')}`);
}

/** What a callback of the host's throws fails the start, and names the callback. */
async function asked<Answer>(callback: string, ask: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const { message } = error instanceof Error ? error : { message: String(error) };
    throw new StartError(`${callback} failed: ${message}`, { cause: error });
  }
}

/** Null drops an endpoint, another one takes its place, nothing leaves it. */
async function reviewed(
  planned: readonly Endpoint[],
  { endpointCreated }: ResolvedOptions,
): Promise<readonly EndpointChange[]> {
  const kept: EndpointChange[] = [];
  for (const endpoint of planned) {
    // In order, so that a host sees what it would see of a list.
    // oxlint-disable-next-line no-await-in-loop
    const verdict = await asked(`endpointCreated for ${endpoint.id}`, () => endpointCreated?.(endpoint));
    if (verdict !== null) kept.push({ planned: endpoint, endpoint: deepFreeze(verdict ?? endpoint) });
  }
  return kept;
}

function pipelineOf(
  { connections: { main, named, provide, providedSettings }, authentication, streams, caching }: GatewayServices,
  operations: readonly CompiledEndpoint[],
  options: ResolvedOptions,
  observe: Observer,
): Pipeline {
  const { validateParameters, commandCallback } = options;
  const hooks =
    validateParameters === null && commandCallback === null ? null : { validateParameters, commandCallback };
  return {
    database: main,
    namedDatabases: named,
    timeout: commandTimeout(options),
    slowClientTimeout: options.slowClientTimeout * 1_000,
    onNotice: (endpoint, notice) => observe({ kind: 'notice', endpoint, notice }),
    onSettingLeft: (endpoint, setting) => observe({ kind: 'setting-leaked', endpoint, setting }),
    router: createRouter(operations),
    streamPlans: indexStreams(operations),
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
    responseCache: caching.keeping,
    // What a hook lets pass for one caller it may not let pass for another.
    isPublic: hooks === null && !authentication.access.alwaysAuthenticate,
    invalidation: caching.invalidation,
    problemOptions: {
      format: options.errorFormat,
      showDatabaseMessage: options.returnGatewayExceptionMessage,
      showRowDetails: options.returnRowDetails,
      mappedCodes: { ...sqlstateStatuses, ...options.postgreSqlErrorCodeToHttpStatusCodeMapping },
    },
    observe,
    logsCommands: options.logCommands,
  };
}
