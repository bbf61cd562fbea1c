import { anyCaller, authorize, isAuthorized } from '../auth/authorize.ts';
import { contextSettings, roleSettings, selectRole } from '../auth/context.ts';
import { jwtClaims } from '../auth/jwt-claims.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { ChangeFeed, ChangeIdentity } from '../ports/changes.ts';
import { localBroadcast } from '../broadcast/topic-listeners.ts';
import type { Broadcast, Observer, SchemeRoute } from '../ports/ports.ts';
import type { Database } from '../postgres/port.ts';
import { jwtClaimsSetting, toChangeIdentity } from '../request/changes/change-identity.ts';
import type { ResolveClientOrigin } from './client-origin.ts';
import type { GatewayInstance } from './instance.ts';
import { toError } from '../to-error.ts';

/** The caller of a WebSocket or of a request to its HTTP endpoint. */
export interface RealtimeCaller {
  readonly identity: ChangeIdentity;
  /** Whether the request has no credentials. */
  readonly isAnonymous: boolean;
  /** Whether the caller may call the endpoint, which has no credentials of its own. */
  readonly isPermitted: (endpoint: Endpoint) => boolean;
}

/** What `@pgway/realtime` uses of a gateway. */
export interface RealtimeAccess {
  /** Starts to read the log, unless an endpoint has done so. */
  readonly feed: () => ChangeFeed;
  /** Whether clients may read PostgreSQL's messages. */
  readonly showsDatabaseMessages: boolean;
  /** For queries of the catalog, and for the policies of callers. */
  readonly database: Database;
  /** The gateway itself, which reads with the rights of its connection. */
  readonly ownIdentity: ChangeIdentity;
  /** Carries messages to the other processes of the gateway; null: there are none. */
  readonly broadcast: Broadcast | null;
  /** Connections of one client address, as `clientNetwork` returns it: those that event streams may have. */
  readonly maxConnectionsPerAddress: number;
  /** Adds a route, which is answered before the endpoints. */
  readonly addRoute: (route: SchemeRoute) => void;
  readonly endpoints: () => readonly Endpoint[];
  /** Returns the request with the address of the client in place of that of a trusted proxy. */
  readonly resolveClient: ResolveClientOrigin;
  /** @throws Problem 401 for refused credentials, 403 for the role `none`, 503 when the sessions cannot be checked */
  readonly identify: (request: GatewayRequest) => Promise<RealtimeCaller>;
  /** Logs an unexpected error. */
  readonly report: (error: unknown) => void;
}

const accesses = new WeakMap<object, RealtimeAccess>();

/** Returns what WebSockets of a gateway need; null for a gateway with tenants. */
export function realtimeAccess(gateway: object): RealtimeAccess | null {
  return accesses.get(gateway) ?? null;
}

export function keepRealtimeAccess(
  gateway: object,
  instance: GatewayInstance,
  {
    observe,
    ...options
  }: Pick<RealtimeAccess, 'resolveClient' | 'showsDatabaseMessages' | 'maxConnectionsPerAddress' | 'addRoute'> & {
    readonly observe: Observer;
  },
): void {
  const { services } = instance;
  const { connections, authentication, events } = services;
  accesses.set(gateway, {
    feed: () => services.changes.open(),
    ...options,
    database: connections.main,
    ownIdentity: {
      role: authentication.databaseRole === null ? undefined : null,
      settings: connections.providedSettings,
      key: 'gateway',
    },
    broadcast: events.broadcast === localBroadcast ? null : events.broadcast,
    endpoints: () => instance.loaded().endpoints,
    identify: (request) => identify(request, instance),
    report: (error) => observe({ kind: 'realtime-failed', error: toError(error) }),
  });
}

async function identify(request: GatewayRequest, { services }: GatewayInstance): Promise<RealtimeCaller> {
  const { authentication, connections } = services;
  const { access, contextKeys: keys, databaseRole } = authentication;
  const { caller } = await authorize([anyCaller], request, access);
  const context = { request, caller };
  const role = databaseRole === null ? undefined : selectRole(caller, databaseRole);
  const settings = [
    ...connections.providedSettings,
    ...(databaseRole === null ? [] : roleSettings(context, databaseRole)),
    ...contextSettings(context, keys, access.claimTypes).filter(([name]) => name !== jwtClaimsSetting),
    [jwtClaimsSetting, jwtClaims(caller, role ?? null)] as const,
    ['request.headers', '{}'] as const,
  ];
  return {
    identity: toChangeIdentity(settings, role, { caller, keys, byAddress: false }),
    isAnonymous: caller === null,
    isPermitted: (endpoint) =>
      endpoint.basicAuthentication === null && isAuthorized({ endpoint }, caller, access.claimTypes),
  };
}
