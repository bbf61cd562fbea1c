import { antiforgeryRoute, batchRoute, type GatewayRoute, refreshRoute, withBuiltInRoutes } from './built-in-routes.ts';
import { createPipeline } from './create-pipeline.ts';
import { CatalogState, type Health, readHealth, readStatistics, type Statistics } from './health.ts';
import type { GatewayServices, LoadedEndpoints } from './load-endpoints.ts';
import { idempotencyStore } from './options/idempotency-options.ts';
import type { ResolvedOptions } from './options/options.ts';
import { refreshStaleChanges, serialize, shareRefreshes } from './refresh.ts';
import type { Services, ServicesStart } from './services.ts';
import { StaleRefresh } from './stale-refresh.ts';
import { toStartError } from './start-error.ts';
import { startRetry } from './start-retry.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Handle } from '../http/response.ts';
import type { Observer, SchemeRoute } from '../ports/ports.ts';
import { compileBatchKeys } from '../request/idempotency/compile-idempotency.ts';
import { BatchHandler } from '../request/batch/batch-handle.ts';
import { createHandle } from '../request/create-handle.ts';
import type { RequestPipeline } from '../request/pipeline.ts';

/** The gateway of one database. */
export interface GatewayInstance {
  readonly services: Services;
  /** The endpoints in use. */
  readonly loaded: () => LoadedEndpoints;
  /** Answers requests whose client has been resolved. */
  readonly handle: Handle;
  /** The routes of the gateway itself, which `handle` answers first. */
  readonly routes: readonly SchemeRoute[];
  /** Reads the catalog again, here and on the other instances of this database. */
  refresh(): Promise<void>;
  /** Reads the catalog again, here only. */
  reload(): Promise<void>;
  health(): Health;
  statistics(): Statistics;
  close(): Promise<void>;
}

export interface InstanceParts {
  readonly openServices: (start: ServicesStart) => Promise<Services>;
  readonly loadEndpoints: (services: GatewayServices) => Promise<LoadedEndpoints>;
  /** Called after each load but the first one. */
  readonly refreshed?: () => Promise<void>;
}

/**
 * Opens the services of a database and loads its endpoints.
 * @throws StartError
 */
export async function openInstance(
  { openServices, loadEndpoints, refreshed = () => Promise.resolve() }: InstanceParts,
  options: ResolvedOptions,
  observe: Observer,
): Promise<GatewayInstance> {
  let loaded: LoadedEndpoints | undefined;
  let pipeline: RequestPipeline | undefined;
  const retry = startRetry(options.startRetry);
  const services = await openServices({ altersSession: (sql) => loaded?.altersSession(sql) ?? true, retry });
  const { connections, events, cache, notifications } = services;
  const catalog = new CatalogState();
  const currentPipeline = (): RequestPipeline => pipeline!;
  const reload = serialize(() => load().then(refreshed));
  const stale = new StaleRefresh({ pipeline: currentPipeline, refresh: reload, databases: connections.all, observe });
  const batches = new BatchHandler(
    currentPipeline,
    stale.refresh,
    options,
    compileBatchKeys(idempotencyStore(options.idempotency)),
  );
  const routesWith = (refresh: () => Promise<void>): readonly GatewayRoute[] =>
    builtInRoutes({ refresh, batches }, options, services);
  const loadOnce = async (): Promise<void> => {
    const parts = { ...services, streams: events.streams, builtInRoutes: routesWith(load) };
    const next = await loadEndpoints(parts);
    // Databases with the same schema share endpoints, which are the same ones after a refresh without changes.
    if (next !== loaded) {
      await events.update(next.streamDefinitions.values());
      connections.plans?.clear();
      pipeline = createPipeline(next, parts, options, observe);
      events.streams.endFeeds(({ path, endpoint }) => isSameEndpoint(next.changeTargets.get(path)?.endpoint, endpoint));
      loaded = next;
    }
    await cache.update(next.endpoints);
  };
  const load = (): Promise<void> => catalog.record(loadOnce);
  await retry(load).catch(async (error: unknown) => {
    await services.close();
    throw toStartError(error);
  });
  notifications?.start(reload);
  const staleChanges = refreshStaleChanges(services.changes, reload, observe);
  const shared = shareRefreshes(reload, events.broadcast, observe);
  const endpointHandle = createHandle(currentPipeline, stale.refresh);
  const routes = routesWith(shared.refresh);
  return {
    services,
    loaded: () => loaded!,
    handle: withBuiltInRoutes(endpointHandle, routes, { options, observe }),
    routes,
    refresh: shared.refresh,
    reload,
    health: () => readHealth(services, catalog.read(loaded!.endpoints.length)),
    statistics: () => readStatistics(services, catalog),
    close: () => {
      for (const part of [shared, stale, staleChanges]) part.stop();
      return services.close();
    },
  };
}

/** Endpoints are plain data, made again by each load. */
function isSameEndpoint(now: Endpoint | undefined, before: Endpoint): boolean {
  return now === before || (now !== undefined && JSON.stringify(now) === JSON.stringify(before));
}

interface RouteParts {
  readonly refresh: () => Promise<void>;
  readonly batches: BatchHandler;
}

/** The routes of the gateway itself: refresh, batches, those of the authentication schemes, external sign-in, antiforgery. */
function builtInRoutes(
  { refresh, batches }: RouteParts,
  options: ResolvedOptions,
  { authentication, signInRoutes }: Pick<Services, 'authentication' | 'signInRoutes'>,
): readonly GatewayRoute[] {
  return [
    ...refreshRoute(refresh, options, authentication.access),
    ...batchRoute(batches, options),
    ...authentication.routes,
    ...signInRoutes,
    ...antiforgeryRoute(options.authentication, authentication),
  ];
}
