import { anyCaller, authorize, isAuthorized } from '../auth/authorize.ts';
import { contextSettings, roleSettings, selectRole } from '../auth/context.ts';
import { jwtClaims } from '../auth/jwt-claims.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { ChangeFeed, ChangeIdentity } from '../ports/changes.ts';
import type { Observer } from '../ports/ports.ts';
import type { Database } from '../postgres/port.ts';
import { jwtClaimsSetting, toChangeIdentity } from '../request/changes/change-identity.ts';
import type { ResolveClientOrigin } from './client-origin.ts';
import type { GatewayInstance } from './instance.ts';

/** The caller of a connection that subscribes to row changes. */
export interface ChangeCaller {
  readonly identity: ChangeIdentity;
  /** Whether the caller may call the endpoint, which has no credentials of its own. */
  readonly isPermitted: (endpoint: Endpoint) => boolean;
}

/** What `@pgway/realtime` uses of a gateway. */
export interface ChangeAccess {
  /** Starts to read the log, unless an endpoint has done so. */
  readonly feed: () => ChangeFeed;
  /** Whether clients may read PostgreSQL's messages. */
  readonly showsDatabaseMessages: boolean;
  /** For queries of the catalog. */
  readonly database: Database;
  readonly endpoints: () => readonly Endpoint[];
  /** Returns the request with the address of the client in place of that of a trusted proxy. */
  readonly resolveClient: ResolveClientOrigin;
  /** @throws Problem 401 for refused credentials, 403 for the role `none`, 503 when the sessions cannot be checked */
  readonly identify: (request: GatewayRequest) => Promise<ChangeCaller>;
  /** Logs an unexpected error, for which a connection is closed. */
  readonly report: (error: unknown) => void;
}

const accesses = new WeakMap<object, ChangeAccess>();

/** Returns how row changes of a gateway are read; null for a gateway with tenants. */
export function changeAccess(gateway: object): ChangeAccess | null {
  return accesses.get(gateway) ?? null;
}

export function keepChangeAccess(
  gateway: object,
  instance: GatewayInstance,
  {
    observe,
    ...options
  }: Pick<ChangeAccess, 'resolveClient' | 'showsDatabaseMessages'> & { readonly observe: Observer },
): void {
  const { services } = instance;
  accesses.set(gateway, {
    feed: () => services.changes.open(),
    ...options,
    database: services.connections.main,
    endpoints: () => instance.loaded().endpoints,
    identify: (request) => identify(request, instance),
    report: (error) =>
      observe({ kind: 'realtime-failed', error: error instanceof Error ? error : new Error(String(error)) }),
  });
}

async function identify(request: GatewayRequest, { services }: GatewayInstance): Promise<ChangeCaller> {
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
    isPermitted: (endpoint) =>
      endpoint.basicAuthentication === null && isAuthorized({ endpoint }, caller, access.claimTypes),
  };
}
