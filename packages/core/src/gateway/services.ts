import { type Authentication, openAuthentication, type TenantAuthentication } from './open-authentication.ts';
import { type Connections, openConnections, type TenantDatabase } from './connections.ts';
import { type Changes, openChanges } from './open-changes.ts';
import { type Events, openEvents } from './open-events.ts';
import { type GatewayCache, openCache } from './open-cache.ts';
import { openExternalSignIn } from './open-external-sign-in.ts';
import { openRateLimits, type RateLimits } from './open-rate-limits.ts';
import { openUploads, type Uploads } from './open-uploads.ts';
import type { ResolvedOptions } from './options/options.ts';
import { type NotificationRefresh, refreshOnNotify } from './refresh.ts';
import { checkServers } from './server-version.ts';
import { toStartError } from './start-error.ts';
import type { RetryStep } from './start-retry.ts';
import type { Observer, SchemeRoute } from '../ports/ports.ts';

/** Everything that the gateway of a database opens once. A refresh of the endpoints leaves it open. */
export interface Services {
  readonly connections: Connections;
  readonly authentication: Authentication;
  readonly events: Events;
  readonly changes: Changes;
  readonly cache: GatewayCache;
  readonly uploads: Uploads;
  readonly rateLimits: RateLimits;
  /** Empty without external sign-in. */
  readonly signInRoutes: readonly SchemeRoute[];
  /** Null without the option `refreshOnNotify`. */
  readonly notifications: NotificationRefresh | null;
  close(): Promise<void>;
}

/** The services of a tenant that are made before its database is connected. */
export interface TenantServices {
  readonly database: TenantDatabase;
  readonly uploads: Uploads;
  readonly rateLimits: RateLimits;
  /** The parts of its own authentication, or the authentication that all tenants share. */
  readonly authentication: TenantAuthentication | Authentication;
}

/** How the services of an instance are opened. */
export interface ServicesStart {
  /** Whether a command may change the state of its session. */
  readonly altersSession: (sql: string) => boolean;
  readonly retry: RetryStep;
}

/**
 * @param tenant null: the services are not those of a tenant
 * @throws StartError after closing what was opened
 */
export async function openServices(
  options: ResolvedOptions,
  observe: Observer,
  { altersSession, retry }: ServicesStart,
  tenant: TenantServices | null = null,
): Promise<Services> {
  const uploads = tenant?.uploads ?? openUploads(options);
  const connections = openConnections(options, observe, tenant?.database);
  let stopEndingStreams: () => void = () => undefined;
  const opened: { -readonly [Name in keyof Services]?: Services[Name] } = {};
  const close = async (): Promise<void> => {
    opened.notifications?.stop();
    opened.authentication?.close();
    stopEndingStreams();
    await opened.events?.close();
    await opened.changes?.close();
    // Before the cache: running calls still store and invalidate responses.
    await connections.close();
    await opened.cache?.close();
    await opened.rateLimits?.close();
  };
  try {
    await retry(() => checkServers(connections, { query: options.query, observe }));
    const shared = tenant?.authentication ?? null;
    const authentication =
      shared !== null && 'access' in shared
        ? { ...shared, close: () => undefined }
        : await retry(() => openAuthentication(options, { connections, altersSession, tenant: shared }, observe));
    opened.authentication = authentication;
    const notifications = await retry(() => refreshOnNotify(connections, options.refreshOnNotify, observe));
    opened.notifications = notifications;
    const events = await retry(() => openEvents(options.events, authentication, connections, observe));
    opened.events = events;
    // Every instance and every tenant is notified itself.
    stopEndingStreams = authentication.sessionEnds.subscribe((session) => events.streams.endSession(session, 'own'));
    const changes = openChanges(options, connections, observe, tenant);
    opened.changes = changes;
    const cache = await retry(() => openCache(options, { connections, changes }, observe));
    opened.cache = cache;
    const { claimTypes } = authentication.access;
    const rateLimits = tenant?.rateLimits ?? (await openRateLimits(options.rateLimits, claimTypes, observe));
    opened.rateLimits = rateLimits;
    const signInRoutes = openExternalSignIn({ authentication, events, rateLimits }, options, observe);
    return {
      connections,
      authentication,
      notifications,
      events,
      changes,
      cache,
      rateLimits,
      signInRoutes,
      uploads,
      close,
    };
  } catch (error) {
    await close();
    throw toStartError(error);
  }
}
