import { type FetchHandler, fetchHandler } from '../adapters/fetch.ts';
import { type NodeMiddleware, nodeMiddleware } from '../adapters/node.ts';
import { type Authentication, openAuthentication } from './open-authentication.ts';
import { authenticationDefaults } from './options/authentication-options.ts';
import { withClientOrigin } from './client-origin.ts';
import { type GatewayCache, openCache } from './open-cache.ts';
import { openConnections } from './connections.ts';
import { type Events, openEvents } from './open-events.ts';
import { checkServers } from './server-version.ts';
import type { Handle } from '../http/response.ts';
import { eventsDefaults, type GatewayOptions, type ResolvedOptions, generalDefaults } from './options/options.ts';
import { createHandle } from '../request/handle.ts';
import type { Pipeline } from '../request/pipeline.ts';
import { deliverLargeBodies } from '../response/large-body.ts';
import type { Observer, SchemeRoute } from '../ports/ports.ts';
import { endpointDefaults } from '../endpoints/options.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { logObserver } from '../logging/log-observer.ts';
import { loadEndpoints, type LoadedEndpoints } from './load-endpoints.ts';
import { antiforgeryRoute, refreshRoute, withBuiltInRoutes } from './built-in-routes.ts';
import {
  type NotificationRefresh,
  refreshOnNotify,
  refreshStaleEndpoints,
  serialize,
  shareRefreshes,
} from './refresh.ts';
import { toStartError } from './start-error.ts';
import { validateOptions } from './options/validate-options.ts';

export type { FetchHandler, NodeMiddleware };

export interface Gateway {
  /** What is published now. */
  readonly endpoints: readonly Endpoint[];
  /** What the authors of comments should know. */
  readonly diagnostics: readonly Diagnostic[];
  /** The gateway itself: a request to its answer, or undefined when the request is not ours. */
  readonly handle: Handle;
  /** For `node:http`, Connect and Express: `app.use(gateway.middleware)`. */
  readonly middleware: NodeMiddleware;
  /** For hosts that speak WHATWG fetch. */
  readonly fetch: FetchHandler;
  /** Reads the catalog again and swaps all endpoints at once; on failure the old ones stay. */
  refresh(): Promise<void>;
  /** What works: the gateway goes on without what does not, and comes back to it by itself. */
  health(): Health;
  /** Ends all streams and opens no more: before a server waits for its running requests to end. */
  endStreams(): void;
  /** Ends all streams, lets running calls finish, for some seconds, and closes every connection. */
  close(): Promise<void>;
}

/** Null: it works; otherwise why it does not. */
export interface Health {
  /** What reaches the other instances of the gateway. */
  readonly broadcast: string | null;
}

/**
 * Reads the database's catalog, plans its endpoints and gives a gateway that answers them.
 * @param wanted a connection string, or options with one or with a data source
 * @throws StartError when the database cannot be reached or read, or is older than 13
 */
export async function createGateway(wanted: string | GatewayOptions): Promise<Gateway> {
  const options = optionsOf(wanted);
  const observe = observerOf(options);
  const connections = openConnections(options, observe);
  let authentication: Authentication | null = null;
  let events: Events | null = null;
  let caching: GatewayCache | null = null;
  const read = async (): Promise<void> => {
    const own = ownRoutes({ refresh: read, options, authentication: authentication!, observe });
    const parts = { connections, authentication: authentication!, streams: events!.streams, caching: caching!, own };
    const next = await loadEndpoints(parts, options, observe);
    await events!.adopt(next.pipeline.streamPlans.values());
    published = next;
    await caching!.published(next.endpoints);
  };
  let published: LoadedEndpoints | undefined;
  let notifications: NotificationRefresh | null = null;
  const close = async (): Promise<void> => {
    notifications?.stop();
    authentication?.close();
    await events?.close();
    // Calls that still run have answers to keep, and some to make void.
    await connections.close();
    await caching?.close();
  };
  try {
    await checkServers(connections, options.startRetry, observe);
    const needs = { connections, altersSession: (sql: string) => published?.altersSession(sql) ?? true };
    authentication = await openAuthentication(options, needs, observe);
    notifications = await refreshOnNotify(connections, options.refreshOnNotify, observe);
    events = await openEvents(options.events, authentication, connections, observe);
    caching = await openCache(options, connections, observe);
    await read();
  } catch (error) {
    await close();
    throw toStartError(error);
  }
  const { streams, broadcast } = events;
  const reread = serialize(read);
  notifications?.start(reread);
  const shared = shareRefreshes(reread, broadcast, observe);
  const handle = handleOf(() => published!, { refresh: shared.refresh, reread, options, authentication, observe });
  return {
    get endpoints() {
      return published!.endpoints;
    },
    get diagnostics() {
      return published!.diagnostics;
    },
    handle,
    middleware: nodeMiddleware(handle, options),
    fetch: fetchHandler(handle, options),
    refresh: shared.refresh,
    health: () => ({ broadcast: broadcast.health() }),
    endStreams: () => streams.close(),
    close: async () => {
      shared.stop();
      await close();
    },
  };
}

interface Doors {
  readonly refresh: () => Promise<void>;
  /** Of this instance alone. */
  readonly reread: () => Promise<void>;
  readonly options: ResolvedOptions;
  readonly authentication: Authentication;
  readonly observe: Observer;
}

/** What is answered without a routine. */
function ownRoutes({ refresh, options, authentication }: Omit<Doors, 'reread'>): readonly SchemeRoute[] {
  return [
    ...refreshRoute(refresh, options, authentication.access),
    ...authentication.routes,
    ...antiforgeryRoute(options.authentication, authentication),
  ];
}

/** From the wall inwards: the client as proxies tell of it, the endpoints of our own, those of the database. */
function handleOf(published: () => LoadedEndpoints, doors: Doors): Handle {
  const { options, reread, observe } = doors;
  const pipeline = (): Pipeline => published().pipeline;
  const inner = withBuiltInRoutes(
    createHandle(pipeline, refreshStaleEndpoints(pipeline, reread, observe)),
    ownRoutes(doors),
    doors,
  );
  const handle = withClientOrigin(inner, options.authentication.trustedProxies);
  return deliverLargeBodies(handle, options.slowClientTimeout * 1_000);
}

/** Undefined is the same as not given. @throws StartError for what cannot be meant */
function optionsOf(wanted: string | GatewayOptions): ResolvedOptions {
  const own = typeof wanted === 'string' ? { connectionString: wanted } : wanted;
  validateOptions(own);
  const present = given(own) as GatewayOptions & Pick<ResolvedOptions, 'connectionString'>;
  return {
    ...endpointDefaults,
    ...generalDefaults,
    ...present,
    authentication: { ...authenticationDefaults, ...given(present.authentication) },
    events: { ...eventsDefaults, ...given(present.events) },
  };
}

function given<Given extends object>(options: Given | undefined): Partial<Given> {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined)) as Partial<Given>;
}

/** The host's own observer hears everything, its logger what the log options let through. */
function observerOf(options: ResolvedOptions): Observer {
  const { observer, logger } = options;
  const log = logger === null ? null : logObserver(logger, options);
  const listeners = [observer, log].filter((listener) => listener !== null);
  return (observation) => {
    for (const listener of listeners) {
      try {
        listener(observation);
      } catch {
        // What is only watched must not be changed by who watches; there is nobody left to tell.
      }
    }
  };
}
