import { display } from './diagnostic.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { CachePolicy, EndpointParameter, ResultShape } from './endpoint.ts';
import { findParameter } from './parameters.ts';
import type { Routine } from '../catalog/routine.ts';

/** How answers are kept, as the comment asks for it; null: they are not. */
export function resolveCachePolicy(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  answer: ResultShape,
): CachePolicy | null {
  const { cached, cacheExpiresInMs: cacheExpires } = builder.overrides;
  if (cached === null) {
    noEffect(builder, 'cacheExpiresInMs', 'without cached');
    return null;
  }
  // The comment of a table is that of all that can be done to it: what changes it is not meant.
  const operation = builder.routine.table?.operation ?? 'select';
  if (operation !== 'select') return null;
  const why = notKept(builder, answer);
  if (why !== null) {
    noEffect(builder, 'cached', why);
    return null;
  }
  return {
    parameters: cached === 'all' ? null : positionsOf(builder, parameters, cached),
    expiresInMs: cacheExpires,
  };
}

/** Where answers cannot be given again, and why. */
function notKept({ overrides, routine, headers }: EndpointBuilder, answer: ResultShape): string | null {
  if (overrides.signIn !== null) return 'where callers sign in or out';
  if (routine.kind === 'procedure') return 'for procedures, which are called for what they do';
  if (answer.kind === 'nothing') return 'where the routine gives nothing';
  return headers.some(({ name }) => name.toLowerCase() === 'set-cookie') ? 'beside Set-Cookie' : null;
}

/** A key without the parameter that the author meant would give one caller the answer of another. */
function positionsOf(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  names: readonly string[],
): readonly number[] {
  const unknown = names.filter((name) => findParameter(parameters, name) === null);
  if (unknown.length > 0) {
    builder.report(
      'error',
      'unknown-parameter',
      `cached names ${unknown.map(display).join(', ')}, which ${unknown.length === 1 ? 'is no parameter' : 'are no parameters'} of the routine; if the line is prose, begin it with another word`,
      builder.annotationFor('cached')?.line ?? null,
    );
  }
  const positions = names.flatMap((name) => findParameter(parameters, name)?.position ?? []);
  return [...new Set(positions)].toSorted((one, other) => one - other);
}

function noEffect(builder: EndpointBuilder, key: 'cached' | 'cacheExpiresInMs', where: string): void {
  const use = builder.annotationFor(key);
  if (use === null || builder.overrides[key] === null) return;
  builder.report('warning', 'no-effect', `${use.name} has no effect ${where}`, use.line);
}

/** What a name means: `schema.name` of every routine and table that it may be, by name with and without the schema. */
export type RoutineIndex = ReadonlyMap<string, readonly string[]>;

/** Names compare without case: to make too much void costs a call, to make too little void is wrong. */
const normal = (name: string): string => name.toLowerCase();

export function indexRoutines(routines: readonly Pick<Routine, 'schema' | 'name'>[]): RoutineIndex {
  const known = new Map<string, Set<string>>();
  for (const { schema, name } of routines) {
    const whole = `${schema}.${name}`;
    for (const written of [normal(name), normal(whole)]) {
      const meant = known.get(written) ?? new Set();
      known.set(written, meant.add(whole));
    }
  }
  return new Map([...known].map(([written, meant]) => [written, [...meant]]));
}

/** Every `schema.name` that is meant by a name. */
export function findRoutineNames(known: RoutineIndex, written: string): readonly string[] {
  return known.get(normal(written.trim())) ?? [];
}

/** Whose kept answers a call makes void. */
export function resolveInvalidations(builder: EndpointBuilder, known: RoutineIndex): readonly string[] {
  const all = builder.invalidates.flatMap(({ name, line }) => {
    const meant = findRoutineNames(known, name);
    if (meant.length === 0) {
      builder.report(
        'warning',
        'unknown-routine',
        `invalidates names ${display(name)}, but nothing that is read here has that name`,
        line,
      );
    }
    return meant;
  });
  return [...new Set(all)].toSorted();
}
