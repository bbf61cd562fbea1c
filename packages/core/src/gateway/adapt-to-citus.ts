import { readCitus } from '../catalog/citus.ts';
import type { Routine } from '../catalog/routine.ts';
import type { ShardNames } from '../catalog/shard-names.ts';
import { applyCitusRules, type CitusPresence } from '../endpoints/citus.ts';
import type { Diagnostic } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import type { Connections } from './connections.ts';
import type { ResolvedOptions } from './options/options.ts';
import { StartError } from './start-error.ts';

/** The endpoints with the rules for Citus where their database has it. */
export interface CitusAdaptation {
  readonly endpoints: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
  readonly logicalNames: RequestPipeline['logicalNames'];
}

/**
 * Looks for the extension Citus in the databases of the endpoints, and adapts the endpoints.
 * @throws StartError when the option `planCacheMode` forces generic plans in such a database
 */
export async function adaptToCitus(
  endpoints: readonly Endpoint[],
  routines: readonly Routine[],
  { main, named }: Connections,
  { planCacheMode }: ResolvedOptions,
): Promise<CitusAdaptation> {
  const names = [...new Set(endpoints.flatMap(({ connection }) => connection ?? []))];
  const found = new Map<string | null, ShardNames | null | 'unknown'>([[null, await readCitus(main)]]);
  // The extensions of an unavailable database are unknown until the next refresh.
  const reads = names.map((name) => readCitus(named.get(name)!).catch(() => 'unknown' as const));
  for (const [index, result] of (await Promise.all(reads)).entries()) found.set(names[index]!, result);
  const presence = new Map([...found].map(([name, result]) => [name, toPresence(result)]));
  for (const [name, state] of presence) {
    if (planCacheMode === 'force_generic_plan' && state === 'present') throw forcedPlanError(name);
  }
  const isAbsent = [...presence.values()].every((state) => state === 'absent');
  const adapted = isAbsent
    ? { endpoints, diagnostics: [] }
    : applyCitusRules(endpoints, { presence, planCacheMode, inlinable: listInlinable(routines) });
  return {
    ...adapted,
    logicalNames: new Map(
      [...found].flatMap(([name, result]) => {
        return result === null || result === 'unknown' ? [] : [[name, result.toLogical.bind(result)]];
      }),
    ),
  };
}

/** PostgreSQL inlines set-returning functions of no other language. */
function listInlinable(routines: readonly Routine[]): ReadonlySet<string> {
  return new Set(routines.flatMap(({ language, signature }) => (language === 'sql' ? [signature] : [])));
}

function toPresence(result: ShardNames | null | 'unknown'): CitusPresence {
  if (result === 'unknown') return 'unknown';
  return result === null ? 'absent' : 'present';
}

function forcedPlanError(connection: string | null): StartError {
  const database = connection === null ? 'the database' : `the database of the connection "${connection}"`;
  return new StartError(
    `planCacheMode is force_generic_plan, but ${database} has the extension citus: with such plans its reads by distribution column fail, and its coordinator can crash; remove planCacheMode, or set it to auto`,
  );
}
