import type { Routine, RoutineParameter, RoutineResult } from '../../src/catalog/routine.ts';
import type { Column, TypeFacts } from '../../src/catalog/type-facts.ts';

/** Facts of a routine for tests that need no database. Real ones come from the catalog. */

function builtin(name: string, oid: number, json: TypeFacts['json'], textual = false): TypeFacts {
  return Object.freeze({
    sql: `"pg_catalog"."${name}"`,
    display: name,
    oid,
    baseOid: oid,
    kind: 'base',
    json,
    textual,
    builtin: name,
  });
}

export const int4: TypeFacts = builtin('int4', 23, 'number');
export const int8: TypeFacts = builtin('int8', 20, 'number');
export const numeric: TypeFacts = builtin('numeric', 1700, 'number');
export const text: TypeFacts = builtin('text', 25, 'string', true);
export const bool: TypeFacts = builtin('bool', 16, 'boolean');
export const jsonb: TypeFacts = builtin('jsonb', 3802, 'json');
export const bytea: TypeFacts = builtin('bytea', 17, 'string');
export const textArray: TypeFacts = Object.freeze({
  ...builtin('_text', 1009, 'converted'),
  display: 'text[]',
  element: text,
});

export function column(name: string, type: TypeFacts = text): Column {
  return { name, type };
}

/** Returns the result of a routine, as in `returns('scalar', [column('f')])`. */
export function returns(
  kind: RoutineResult['kind'],
  columns: readonly Column[] = [],
  more: Partial<RoutineResult> = {},
): RoutineResult {
  return { kind, set: false, columns, named: false, display: kind, ...more };
}

type ParameterSketch = Partial<RoutineParameter> & { readonly name: string | null };

function parameter(sketch: ParameterSketch, index: number): RoutineParameter {
  return { position: index + 1, type: text, hasDefault: false, variadic: false, mode: 'in', ...sketch };
}

type RoutineSketch = Partial<Omit<Routine, 'parameters'>> & { readonly parameters?: readonly ParameterSketch[] };

/** A volatile function `public.do_thing()` that returns text, but for what the sketch says. */
export function routine(sketch: RoutineSketch = {}): Routine {
  const parameters = (sketch.parameters ?? []).map(parameter);
  const schema = sketch.schema ?? 'public';
  const name = sketch.name ?? 'do_thing';
  return {
    kind: 'function',
    outputs: [],
    result: returns('scalar', [column(name)]),
    volatility: 'volatile',
    strict: false,
    language: 'sql',
    comment: 'HTTP',
    signature: `${schema}.${name}(${parameters.map((one) => `${one.name ?? ''} ${one.type.display}`.trim()).join(', ')})`,
    ...sketch,
    schema,
    name,
    parameters,
  };
}
