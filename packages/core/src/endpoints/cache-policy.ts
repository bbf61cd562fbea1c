import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { CachePolicy, EndpointParameter, ResultShape } from './endpoint.ts';
import { findParameter } from './parameters.ts';
import { cached, cacheExpiresIn } from './annotations/cache.ts';
import { connectionName } from './annotations/connection.ts';
import { parseTableName, type TableName } from '../catalog/table-name.ts';
import { loginOrLogout } from './annotations/login.ts';
import { uploadHandlers } from './annotations/upload.ts';
import { fromComment } from './comment/resolve-values.ts';
import type { SettingKey } from './comment/setting.ts';
import { fromDefault, type Resolved } from './origin.ts';
import type { Routine } from '../catalog/routine.ts';
import { suggestParameter } from './unknown-parameter.ts';

/** Returns the cache policy that the comment sets, or null without caching. */
export function resolveCachePolicy(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  result: ResultShape,
): Resolved<CachePolicy | null> {
  const settings = builder.get(cached);
  if (settings === null) {
    warnOfNoEffect(builder, cacheExpiresIn, 'without cached');
    return builder.annotationFor(cached) === null
      ? fromDefault(null, 'no cached line')
      : fromComment(builder, cached, null);
  }
  // All operations of a table share its comment, but only `select` is cached.
  const operation = builder.routine.table?.operation ?? 'select';
  if (operation !== 'select') return fromComment(builder, cached, null, 'only select is cached');
  const reason = uncacheableReason(builder, result);
  if (reason !== null) {
    warnOfNoEffect(builder, cached, reason);
    return fromComment(builder, cached, null, `no effect ${reason}`);
  }
  const { parameters: names, tables } = settings;
  return fromComment(builder, cached, {
    parameters: names === 'all' ? null : resolvePositions(builder, parameters, names),
    expiresInMs: builder.get(cacheExpiresIn),
    ...(tables.length === 0 ? {} : { untilChangesOf: resolveTables(builder, tables) }),
  });
}

/** Returns the tables of `until changes of`. A name without a schema is one of the schema of the routine. */
function resolveTables(builder: EndpointBuilder, written: readonly string[]): readonly TableName[] {
  const { kind, schema, name } = builder.routine;
  const tables = written.map((word) => parseTableName(word, schema));
  const line = builder.annotationFor(cached)?.line ?? null;
  if (builder.get(connectionName) !== null)
    builder.report(
      'error',
      'contradiction',
      'cached: changes are read from the main database, and connection_name selects another one; remove one of the lines',
      line,
    );
  const isTable = kind === 'table' || kind === 'partitioned table';
  if (isTable && tables.every((table) => table.schema !== schema || table.name !== name))
    builder.report(
      'warning',
      'cached-rows',
      `cached: changes of ${display(name)} itself do not invalidate its responses; add it to the tables`,
      line,
    );
  return tables;
}

/** Returns the reason why responses cannot be cached, for a message, or null. */
function uncacheableReason(builder: EndpointBuilder, result: ResultShape): string | null {
  const { routine, headers } = builder;
  if (builder.isSet(loginOrLogout)) return 'for logins and logouts';
  if (builder.isSet(uploadHandlers)) return 'for uploads';
  if (routine.kind === 'procedure') return 'for procedures, which may change data';
  if (result.kind === 'nothing') return 'for routines without a result';
  return headers.some(({ name }) => name.toLowerCase() === 'set-cookie') ? 'with a Set-Cookie header' : null;
}

/** An unknown name is an error: without it, the cache key would mix responses for different values. */
function resolvePositions(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  names: readonly string[],
): readonly number[] {
  const unknown = names.filter((name) => findParameter(parameters, name) === null);
  if (unknown.length > 0) {
    builder.report(
      'error',
      'unknown-parameter',
      `cached: the routine has no parameter ${unknown.map(display).join(', ')}; ${suggestParameter(unknown[0]!, parameters) ?? 'correct the name, or begin the line with another word if it is prose'}`,
      builder.annotationFor(cached)?.line ?? null,
    );
  }
  const positions = names.flatMap((name) => findParameter(parameters, name)?.position ?? []);
  return [...new Set(positions)].toSorted((a, b) => a - b);
}

function warnOfNoEffect(builder: EndpointBuilder, setting: SettingKey, where: string): void {
  const use = builder.annotationFor(setting);
  if (use === null || !builder.isSet(setting)) return;
  const remedy = setting === cached ? 'remove the line' : 'add cached, or remove the line';
  builder.report('warning', 'no-effect', `${use.name} has no effect ${where}; ${remedy}`, use.line);
}

/** The `schema.name` of routines and tables, by their lower-case names with and without the schema. */
export type RoutineIndex = ReadonlyMap<string, readonly string[]>;

/** Names are case-insensitive: one invalidation too many costs a call, a missing one serves stale data. */
const normalize = (name: string): string => name.toLowerCase();

/** Builds the index that `findRoutineNames` searches. */
export function indexRoutines(routines: readonly Pick<Routine, 'schema' | 'name'>[]): RoutineIndex {
  const index = new Map<string, Set<string>>();
  for (const { schema, name } of routines) {
    const whole = `${schema}.${name}`;
    for (const key of [normalize(name), normalize(whole)]) {
      const names = index.get(key) ?? new Set();
      index.set(key, names.add(whole));
    }
  }
  return new Map([...index].map(([key, names]) => [key, [...names]]));
}

/** Returns every `schema.name` that a name with or without schema matches. */
export function findRoutineNames(index: RoutineIndex, name: string): readonly string[] {
  return index.get(normalize(name.trim())) ?? [];
}

/** Returns the routines and tables whose cached responses a call invalidates. Warns of unknown names. */
export function resolveInvalidations(builder: EndpointBuilder, index: () => RoutineIndex): readonly string[] {
  const all = builder.invalidates.flatMap(({ name, line }) => {
    const names = findRoutineNames(index(), name);
    if (names.length === 0) {
      builder.report(
        'warning',
        'unknown-routine',
        `invalidates: no routine, table or view is named ${display(name)}; correct the name`,
        line,
      );
    }
    return names;
  });
  return [...new Set(all)].toSorted();
}
