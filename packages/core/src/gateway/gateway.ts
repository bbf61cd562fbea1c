import { type FetchHandler, fetchHandler } from '../adapters/fetch.ts';
import { type NodeMiddleware, nodeMiddleware } from '../adapters/node.ts';
import { type Authentication, openAuthentication } from './open-authentication.ts';
import { authenticationDefaults } from './options/authentication-options.ts';
import { clientOriginResolver } from './client-origin.ts';
import { type HostAuthentication, hostAuthentication } from './host-authentication.ts';
import { type GatewayCache, openCache } from './open-cache.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Events, openEvents } from './open-events.ts';
import { openUploads, type Uploads } from './open-uploads.ts';
import { checkServers } from './server-version.ts';
import type { Handle } from '../http/response.ts';
import { eventsDefaults, type GatewayOptions, type ResolvedOptions, generalDefaults } from './options/options.ts';
import { createHandle } from '../request/create-handle.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import { deliverLargeBodies } from '../response/large-body.ts';
import type { Observer, SchemeRoute } from '../ports/ports.ts';
import { endpointDefaults } from '../endpoints/options.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { logObserver } from '../logging/log-observer.ts';
import {
  CatalogState,
  type DatabaseProbe,
  type Health,
  probeDatabases,
  readHealth,
  readStatistics,
  type Statistics,
} from './health.ts';
import { loadEndpoints, type LoadedEndpoints } from './load-endpoints.ts';
import { antiforgeryRoute, refreshRoute, withBuiltInRoutes } from './built-in-routes.ts';
import {
  type NotificationRefresh,
  refreshOnNotify,
  refreshStaleEndpoints,
  serialize,
  shareRefreshes,
} from './refresh.ts';
import { openRateLimits, type RateLimits } from './open-rate-limits.ts';
import { rateLimitsDefaults } from './options/rate-limit-options.ts';
import { uploadDefaults } from './options/upload-options.ts';
import { toStartError } from './start-error.ts';
import { validateOptions } from './options/validate-options.ts';

export type { FetchHandler, NodeMiddleware };

/** A gateway: answers requests by the endpoints of a database. */
export interface Gateway extends HostAuthentication {
  /** The endpoints in use. */
  readonly endpoints: readonly Endpoint[];
  /** Errors and warnings about comments and options. */
  readonly diagnostics: readonly Diagnostic[];
  /** Returns the response to a request; undefined for a request that no endpoint matches. */
  readonly handle: Handle;
  /** Middleware for `node:http`, Connect and Express: `app.use(gateway.middleware)`. */
  readonly middleware: NodeMiddleware;
  /** For hosts that use WHATWG fetch. */
  readonly fetch: FetchHandler;
  /** Reads the catalog again and replaces all endpoints at once. When it fails, the old endpoints stay. */
  refresh(): Promise<void>;
  /** Returns the state of services, pools and endpoints without a call of the database. Lost services reconnect automatically. */
  health(): Health;
  /** Returns counters for metrics, without a call of the database. */
  statistics(): Statistics;
  /**
   * Queries each database on a connection of its own, which waits for no request. Never rejects.
   * @param timeoutMs milliseconds, including the time to connect
   */
  probeDatabases(timeoutMs: number): Promise<readonly DatabaseProbe[]>;
  /** Ends all event streams and refuses new ones, so that a server can then wait for its running requests. */
  endStreams(): void;
  /** Ends all event streams, waits some seconds for running calls, and closes every connection. */
  close(): Promise<void>;
}

/**
 * Reads the catalog of the database, builds its endpoints and returns a gateway that serves them.
 *
 * @param input a connection string, or options with a connection string or a data source
 * @throws StartError for invalid options, and for a database that cannot be reached, cannot be read or is older than 13
 */
export async function createGateway(input: string | GatewayOptions): Promise<Gateway> {
  const options = resolveOptions(input);
  const observe = createObserver(options);
  const resolveClient = clientOriginResolver(options.authentication.trustedProxies);
  let loaded: LoadedEndpoints | undefined;
  const services = await openServices(options, observe, (sql) => loaded?.altersSession(sql) ?? true);
  const { authentication, events, cache, notifications } = services;
  const catalog = new CatalogState();
  const loadOnce = async (): Promise<void> => {
    const routes = builtInRoutes(load, options, authentication);
    const parts = { ...services, streams: events.streams, builtInRoutes: routes };
    const next = await loadEndpoints(parts, options, observe);
    await events.update(next.pipeline.streamDefinitions.values());
    loaded = next;
    await cache.update(next.endpoints);
  };
  const load = (): Promise<void> => catalog.record(loadOnce);
  await load().catch(async (error: unknown) => {
    await services.close();
    throw toStartError(error);
  });
  const reload = serialize(load);
  notifications?.start(reload);
  const shared = shareRefreshes(reload, events.broadcast, observe);
  const pipeline = (): RequestPipeline => loaded!.pipeline;
  const endpointHandle = createHandle(pipeline, refreshStaleEndpoints(pipeline, reload, observe));
  const routes = builtInRoutes(shared.refresh, options, authentication);
  const inner = withBuiltInRoutes(endpointHandle, routes, { options, observe });
  // The client behind trusted proxies first, then built-in routes, then database endpoints.
  const handle = deliverLargeBodies((request) => inner(resolveClient(request)), options.slowClientTimeout * 1_000);
  return {
    get endpoints() {
      return loaded!.endpoints;
    },
    get diagnostics() {
      return loaded!.diagnostics;
    },
    handle,
    middleware: nodeMiddleware(handle, options),
    fetch: fetchHandler(handle, options),
    ...hostAuthentication({
      authentication,
      resolveClient,
      endSession: (session) => events.streams.endSession(session),
      observe,
    }),
    refresh: shared.refresh,
    health: () => readHealth(services, catalog.read(loaded!.endpoints.length)),
    statistics: () => readStatistics(services, catalog),
    probeDatabases: (timeoutMs) => probeDatabases(services.connections, timeoutMs),
    endStreams: () => events.streams.close(),
    close: () => {
      shared.stop();
      return services.close();
    },
  };
}

/** Everything that a gateway opens once. A refresh of the endpoints leaves it open. */
interface Services {
  readonly connections: Connections;
  readonly authentication: Authentication;
  readonly events: Events;
  readonly cache: GatewayCache;
  readonly uploads: Uploads;
  readonly rateLimits: RateLimits;
  /** Null without the option `refreshOnNotify`. */
  readonly notifications: NotificationRefresh | null;
  close(): Promise<void>;
}

/** @throws StartError after closing what was opened */
async function openServices(
  options: ResolvedOptions,
  observe: Observer,
  altersSession: (sql: string) => boolean,
): Promise<Services> {
  const uploads = openUploads(options);
  const connections = openConnections(options, observe);
  const opened: { -readonly [Name in keyof Services]?: Services[Name] } = {};
  const close = async (): Promise<void> => {
    opened.notifications?.stop();
    opened.authentication?.close();
    await opened.events?.close();
    // Before the cache: running calls still store and invalidate responses.
    await connections.close();
    await opened.cache?.close();
    await opened.rateLimits?.close();
  };
  try {
    await checkServers(connections, options.startRetry, observe);
    const authentication = await openAuthentication(options, { connections, altersSession }, observe);
    opened.authentication = authentication;
    const notifications = await refreshOnNotify(connections, options.refreshOnNotify, observe);
    opened.notifications = notifications;
    const events = await openEvents(options.events, authentication, connections, observe);
    opened.events = events;
    const cache = await openCache(options, connections, observe);
    opened.cache = cache;
    const rateLimits = await openRateLimits(options.rateLimits, authentication.access.claimTypes, observe);
    opened.rateLimits = rateLimits;
    return { connections, authentication, notifications, events, cache, rateLimits, uploads, close };
  } catch (error) {
    await close();
    throw toStartError(error);
  }
}

/** The routes of the gateway itself: refresh, those of the authentication schemes, antiforgery. */
function builtInRoutes(
  refresh: () => Promise<void>,
  options: ResolvedOptions,
  authentication: Authentication,
): readonly SchemeRoute[] {
  return [
    ...refreshRoute(refresh, options, authentication.access),
    ...authentication.routes,
    ...antiforgeryRoute(options.authentication, authentication),
  ];
}

/**
 * Adds the defaults. An option that is undefined counts as not given.
 * @throws StartError with one line for each invalid option
 */
function resolveOptions(input: string | GatewayOptions): ResolvedOptions {
  const options = typeof input === 'string' ? { connectionString: input } : input;
  validateOptions(options);
  const present = withoutUndefined(options) as GatewayOptions & Pick<ResolvedOptions, 'connectionString'>;
  return {
    ...endpointDefaults,
    ...generalDefaults,
    ...present,
    authentication: { ...authenticationDefaults, ...withoutUndefined(present.authentication) },
    events: { ...eventsDefaults, ...withoutUndefined(present.events) },
    rateLimits: { ...rateLimitsDefaults, ...withoutUndefined(present.rateLimits) },
    uploadOptions: { ...uploadDefaults, ...withoutUndefined(present.uploadOptions) },
  };
}

function withoutUndefined<Options extends object>(options: Options | undefined): Partial<Options> {
  const present = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Partial<Options>;
}

/** Passes observations to the host's observer and, filtered by the log options, to its logger. */
function createObserver(options: ResolvedOptions): Observer {
  const { observer, logger } = options;
  const log = logger === null ? null : logObserver(logger, options);
  const observers = [observer, log].filter((observe) => observe !== null);
  return (observation) => {
    for (const observe of observers) {
      try {
        observe(observation);
      } catch {
        // An observer must not affect the request. Its errors are dropped.
      }
    }
  };
}
