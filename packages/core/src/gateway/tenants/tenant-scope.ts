/** Views of services that all tenants share, each with the keys of one tenant. */
import type { Broadcast, Cache, LoginRateLimiter } from '../../ports/ports.ts';
import type { RateLimitStore } from '../../ports/rate-limit-store.ts';

/** The names of tenants have no slash: the keys of two tenants are never the same. */
function prefixed(tenant: string, key: string): string {
  return `${tenant}/${key}`;
}

/**
 * Returns the part of a cache that has the responses of a tenant. Its `close` invalidates them: nothing invalidates the responses of a tenant
 * that is closed.
 */
export function tenantCache(cache: Cache, tenant: string): Cache {
  const routines = new Set<string>();
  return {
    get: ({ routine, text }) => {
      routines.add(routine);
      return cache.get({ routine: prefixed(tenant, routine), text: prefixed(tenant, text) });
    },
    set: ({ routine, text }, response, how) =>
      cache.set({ routine: prefixed(tenant, routine), text: prefixed(tenant, text) }, response, how),
    invalidate: (names, scope) =>
      cache.invalidate(
        names.map((name) => prefixed(tenant, name)),
        scope,
      ),
    close: () => cache.invalidate([...routines].map((name) => prefixed(tenant, name))),
  };
}

/** Returns the messages of a tenant in a broadcast. The broadcast itself encrypts them, if it has to, and stays open. */
export function tenantBroadcast(broadcast: Broadcast, tenant: string): Broadcast {
  return {
    isPrivate: true,
    publish: (topic, payload) => broadcast.publish(prefixed(tenant, topic), payload),
    subscribe: (topic, receive) => broadcast.subscribe(prefixed(tenant, topic), receive),
    ...(broadcast.openLog === undefined
      ? {}
      : { openLog: (topic, listener) => broadcast.openLog!(prefixed(tenant, topic), listener) }),
    health: () => broadcast.health(),
    close: () => Promise.resolve(),
  };
}

/** Returns the counters of a tenant in a store, which stays open. */
export function tenantRateLimitStore(store: RateLimitStore, tenant: string): RateLimitStore {
  return {
    acquire: (policy, key) => store.acquire(policy, prefixed(tenant, key)),
    release: (policy, key, permit) => store.release(policy, prefixed(tenant, key), permit),
    close: () => undefined,
  };
}

/** Returns a limiter that counts the users of a tenant separately. Addresses count for all tenants together. */
export function tenantLoginRateLimiter(limiter: LoginRateLimiter, tenant: string): LoginRateLimiter {
  return {
    consume: ({ user, address }) => limiter.consume({ user: user === null ? null : prefixed(tenant, user), address }),
    complete: ({ user, address }, outcome) =>
      limiter.complete({ user: user === null ? null : prefixed(tenant, user), address }, outcome),
  };
}
