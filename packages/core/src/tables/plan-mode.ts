import type { Query } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type ProvidedColumn, requireTable } from './provided-columns.ts';

const auto = { settings: [['plan_cache_mode', 'auto']] } as const;

/**
 * With `planCacheMode: 'force_generic_plan'` calls of routines are planned once for all values. The best plan for the rows of a table
 * depends on the values, so PostgreSQL chooses here, unless the comment has chosen or the whole key is given, for which there is one plan.
 */
export function planModeSettings(
  endpoint: Endpoint,
  given: readonly ProvidedColumn[],
  values: number,
): Pick<Query, 'settings'> {
  if (values === 0 || endpoint.planCacheMode !== null || coversKey(endpoint, given)) return {};
  return auto;
}

/** Whether every column of the key has one value: at most one row is meant. */
export function coversKey(endpoint: Endpoint, given: readonly ProvidedColumn[]): boolean {
  const keys = requireTable(endpoint).columns.filter(({ key }) => key);
  return (
    keys.length > 0 && keys.every(({ name }) => given.some(({ facts, value }) => facts.name === name && value !== null))
  );
}
