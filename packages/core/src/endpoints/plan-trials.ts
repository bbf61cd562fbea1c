import type { Endpoint } from './endpoint.ts';

/** Milliseconds. A shorter timeout would leave too little time for the call after a trial. */
const minTimeoutMs = 2_000;

/**
 * Returns whether calls of an endpoint may be tried with a generic plan. A trial may be cancelled and the call run again, so that it must
 * only read, by its declaration, raise no events, set no response settings and take no locks. Citus accepts no generic plans.
 */
export function canTryPlans(endpoint: Endpoint): boolean {
  const { planCacheMode, timeoutMs, sessionEffects, responseSettings, citus } = endpoint;
  if (!onlyReads(endpoint) || planCacheMode !== null || citus !== undefined) return false;
  return !responseSettings && (timeoutMs || minTimeoutMs) >= minTimeoutMs && sessionEffects?.mayBlock !== true;
}

function onlyReads({ kind, volatility, events, invalidates, loginOrLogout, upload }: Endpoint): boolean {
  if (kind === 'procedure' || volatility === 'volatile') return false;
  return events === null && invalidates.length === 0 && loginOrLogout === null && upload === null;
}
