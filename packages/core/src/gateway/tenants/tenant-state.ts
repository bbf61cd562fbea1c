import type { CommandRunner } from '../../auth-schemes/command-runner.ts';
import type { SessionStore } from '../../auth-schemes/sessions.ts';
import { tenantEncryption, tenantScheme } from '../../auth-schemes/tenant-scheme.ts';
import { MemoryRateLimitStore } from '../../rate-limits/memory-store.ts';
import {
  openHashRateLimiter,
  openLoginRateLimiter,
  openSessions,
  type TenantAuthentication,
} from '../open-authentication.ts';
import type { RateLimits } from '../open-rate-limits.ts';
import type { ResolvedOptions } from '../options/options.ts';
import type { Services } from '../services.ts';
import { tenantLoginRateLimiter, tenantRateLimitStore } from './tenant-scope.ts';

/**
 * The state of a tenant that stays when its connections are closed: counters of rate limits and failed logins, and the sessions that have
 * ended. Without it, a client could reset them by waiting.
 */
export interface TenantState {
  readonly authentication: TenantAuthentication;
  readonly rateLimits: RateLimits;
}

/** @param main the services of the gateway, of which tenants share some */
export function createTenantState(name: string, main: Services, options: ResolvedOptions): TenantState {
  return {
    authentication: createAuthentication(name, main, options),
    rateLimits: createRateLimits(name, main, options),
  };
}

function createAuthentication(
  name: string,
  { authentication }: Services,
  options: ResolvedOptions,
): TenantAuthentication {
  const { encryption, hasher, sessions } = authentication.services;
  const { loginRateLimit } = options.authentication;
  const claim = options.tenant!.claim;
  const logins = openLoginRateLimiter(options.authentication);
  return {
    encryption: encryption === null ? null : tenantEncryption(encryption, name),
    hasher,
    // A limiter of the host program counts for all tenants.
    loginRateLimiter: 'consume' in loginRateLimit ? tenantLoginRateLimiter(logins, name) : logins,
    hashRateLimiter: openHashRateLimiter(options.authentication),
    sessions: options.authentication.sessions === null ? () => sessions : reconnectingSessions(options),
    restrict: (scheme) => (claim === null ? scheme : tenantScheme(scheme, name, claim)),
  };
}

/** Returns one session store, whose commands run on the latest connection. */
function reconnectingSessions({ authentication }: ResolvedOptions): TenantAuthentication['sessions'] {
  let current: CommandRunner;
  let store: SessionStore | null = null;
  return (query) => {
    current = query;
    return (store ??= openSessions(authentication, (sql, values) => current(sql, values)));
  };
}

/** The counts of refused requests are those of all tenants. */
function createRateLimits(name: string, main: Services, { rateLimits }: ResolvedOptions): RateLimits {
  const store =
    rateLimits.store === null
      ? new MemoryRateLimitStore({ maxKeys: rateLimits.maxKeys })
      : tenantRateLimitStore(rateLimits.store, name);
  return {
    store,
    refusesWhenUnavailable: main.rateLimits.refusesWhenUnavailable,
    byName: new Map([...main.rateLimits.byName].map(([policy, limit]) => [policy, { ...limit, store }] as const)),
    health: () => null,
    close: () => Promise.resolve(),
  };
}
