import { deepFreeze } from './deep-freeze.ts';
import { type Diagnostic, display } from './diagnostic.ts';
import type { Endpoint } from './endpoint.ts';

/** Whether a database has the extension Citus; `unknown` while it cannot be reached. */
export type CitusPresence = 'present' | 'absent' | 'unknown';

export interface CitusOptions {
  /** By connection name; null is the default connection. */
  readonly presence: ReadonlyMap<string | null, CitusPresence>;
  /** The functions that PostgreSQL may inline, by the id of their endpoint. */
  readonly inlinable: ReadonlySet<string>;
  /** The mode of endpoints whose comment sets none. */
  readonly planCacheMode: 'measured' | 'auto' | 'force_generic_plan';
}

/**
 * Adds the rules for statements that Citus accepts to the endpoints of such databases. Excludes and reports endpoints that force
 * generic plans there. A database that cannot be reached may be one: the rules suit other databases too.
 */
export function applyCitusRules(
  endpoints: readonly Endpoint[],
  options: CitusOptions,
): { readonly endpoints: readonly Endpoint[]; readonly diagnostics: readonly Diagnostic[] } {
  const present = ({ connection }: Endpoint): boolean => options.presence.get(connection) === 'present';
  const forced = endpoints.filter((endpoint) => present(endpoint) && endpoint.planCacheMode === forcedMode);
  return {
    endpoints: endpoints
      .filter((endpoint) => !forced.includes(endpoint))
      .map((endpoint) => addRules(endpoint, options)),
    diagnostics: forced.map(reportForcedPlan),
  };
}

const forcedMode = 'force_generic_plan';

function addRules(endpoint: Endpoint, { presence, inlinable, planCacheMode }: CitusOptions): Endpoint {
  const found = presence.get(endpoint.connection)!;
  if (found === 'absent') return endpoint;
  const isForced = (endpoint.planCacheMode ?? planCacheMode) === forcedMode;
  return deepFreeze({
    ...endpoint,
    citus: { withOrdinality: inlinable.has(endpoint.id) },
    ...(isForced ? { planCacheMode: 'auto' } : {}),
  });
}

function reportForcedPlan({ id, connection }: Endpoint): Diagnostic {
  const database = connection === null ? 'the database' : `the database of the connection ${display(connection)}`;
  return {
    severity: 'error',
    code: 'citus-plan',
    routine: id,
    line: null,
    message: `plan_cache_mode ${forcedMode}: ${database} has the extension citus, whose coordinator such a plan can crash; remove the line, or use auto`,
  };
}
