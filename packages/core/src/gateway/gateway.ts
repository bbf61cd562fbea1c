import { type FetchHandler, fetchHandler } from '../adapters/fetch.ts';
import { mountCheck } from '../adapters/mount-check.ts';
import { type NodeMiddleware, nodeMiddleware } from '../adapters/node.ts';
import { keepRealtimeAccess } from './realtime-access.ts';
import { clientOriginResolver } from './client-origin.ts';
import { type HostAuthentication, hostAuthentication } from './host-authentication.ts';
import type { Handle } from '../http/response.ts';
import { type GatewayOptions, type ResolvedOptions, resolveOptions } from './options/options.ts';
import { deliverLargeBodies } from '../response/large-body.ts';
import type { Observer, SchemeRoute } from '../ports/ports.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { logObserver } from '../logging/log-observer.ts';
import { type DatabaseProbe, type Health, probeDatabases, type Statistics } from './health.ts';
import { type GatewayInstance, openInstance } from './instance.ts';
import { withBuiltInRoutes } from './built-in-routes.ts';
import { listSources, loadEndpoints } from './load-endpoints.ts';
import { openServices } from './services.ts';
import { toStartError } from './start-error.ts';
import { checkTenantOptions } from './tenants/check-tenant-options.ts';
import { SchemaVersions } from './tenants/schema-versions.ts';
import { tenantLogins } from './tenants/select-tenant.ts';
import { tenantHostAuthentication } from './tenants/tenant-host-authentication.ts';
import { withTenantHealth, withTenantStatistics } from './tenants/tenant-statistics.ts';
import { Tenants, type TenantsInput } from './tenants/tenants.ts';

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
  const options = resolveOptions(typeof input === 'string' ? { connectionString: input } : input);
  if (options.tenant !== null) checkTenantOptions(options.tenant, options);
  const observe = createObserver(options);
  const versions = options.tenant === null ? null : new SchemaVersions(options.tenant.versionQuery);
  let tenants: Tenants | null = null;
  const instance = await openInstance(
    {
      openServices: (start) => openServices(options, observe, start),
      loadEndpoints: async (services) =>
        versions === null
          ? loadEndpoints(services, await listSources(options), options, observe)
          : versions.load(services, options, observe),
      refreshed: async () => tenants?.refresh(),
    },
    options,
    observe,
  );
  if (versions !== null) tenants = await openTenants({ main: instance, versions, options, observe });
  return toGateway({ instance, tenants, options, observe });
}

/** @throws StartError after closing the gateway's own database */
async function openTenants(input: TenantsInput): Promise<Tenants> {
  try {
    return await Tenants.open(input);
  } catch (error) {
    await input.main.close();
    throw toStartError(error);
  }
}

interface GatewayParts {
  readonly instance: GatewayInstance;
  /** Null: the database of the connection string answers the requests. */
  readonly tenants: Tenants | null;
  readonly options: ResolvedOptions;
  readonly observe: Observer;
}

function toGateway({ instance, tenants, options, observe }: GatewayParts): Gateway {
  const { authentication, connections, events } = instance.services;
  const resolveClient = clientOriginResolver(options.authentication.trustedProxies);
  let inner = tenants === null ? instance.handle : tenantHandle(tenants, instance, options, observe);
  // The client behind trusted proxies first, then built-in routes, then database endpoints.
  const handle = deliverLargeBodies((request) => inner(resolveClient(request)), options.slowClientTimeout * 1_000);
  const gateway: Gateway = {
    get endpoints() {
      return instance.loaded().endpoints;
    },
    get diagnostics() {
      return instance.loaded().diagnostics;
    },
    handle,
    middleware: nodeMiddleware(handle, { ...options, onUnmatched: mountCheck(() => instance.loaded().endpoints) }),
    fetch: fetchHandler(handle, options),
    ...(tenants === null || options.tenant?.by === 'claim'
      ? hostAuthentication({
          authentication: tenants === null ? authentication : tenantLogins(authentication, options.tenant!),
          resolveClient,
          endSession: (session) => events.streams.endSession(session),
          observe,
        })
      : tenantHostAuthentication(tenants, resolveClient, observe)),
    refresh: () => instance.refresh(),
    health: () => withTenantHealth(instance.health(), tenants?.statistics() ?? null),
    statistics: () => withTenantStatistics(instance.statistics(), tenants?.statistics() ?? null),
    probeDatabases: (timeoutMs) => probeDatabases(connections, timeoutMs),
    endStreams: () => {
      events.streams.close();
      tenants?.endStreams();
    },
    close: async () => {
      await tenants?.close();
      await instance.close();
    },
  };
  if (tenants === null) {
    const showsDatabaseMessages = options.returnGatewayExceptionMessage !== false;
    const addRoute = (route: SchemeRoute): void => {
      inner = withBuiltInRoutes(inner, [route], { options, observe });
    };
    keepRealtimeAccess(gateway, instance, {
      resolveClient,
      showsDatabaseMessages,
      maxConnectionsPerAddress: options.events.maxStreamsPerAddress,
      addRoute,
      observe,
    });
  }
  return gateway;
}

/** All tenants share the routes of the authentication when a claim of the caller tells the tenant. */
function tenantHandle(
  tenants: Tenants,
  { routes }: GatewayInstance,
  options: ResolvedOptions,
  observe: Observer,
): Handle {
  return options.tenant?.by === 'claim'
    ? withBuiltInRoutes(tenants.handle, routes, { options, observe })
    : tenants.handle;
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
