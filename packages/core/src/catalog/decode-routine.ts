import {
  decodeCode,
  decodeText,
  decodeInteger,
  type JsonObject,
  readBoolean,
  readCode,
  readArray,
  readArrayOrNull,
  malformedRow,
  readText,
  readTextOrNull,
  readInteger,
} from './json-object.ts';
import { displayIdentifier as label } from './quote.ts';
import type { Routine, RoutineParameter, RoutineResult } from './routine.ts';
import type { Column, TypeFacts } from './type-facts.ts';
import type { TypeLookup } from './type-lookup.ts';

type Mode = 'in' | 'out' | 'inout' | 'variadic' | 'table';

interface Argument {
  /** Null when the author gave none. */
  readonly name: string | null;
  readonly mode: Mode;
  readonly type: TypeFacts;
}

const modes = { i: 'in', o: 'out', b: 'inout', v: 'variadic', t: 'table' } as const;
const kinds = { f: 'function', p: 'procedure' } as const;
const volatilities = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

export function decodeRoutine(facts: JsonObject, typeOf: TypeLookup): Routine {
  const kind = readCode(facts, 'kind', kinds);
  const schema = readText(facts, 'schema');
  const name = readText(facts, 'name');
  const all = readArguments(facts, typeOf);
  const definition = readTextOrNull(facts, 'definition');
  const parameters = inputParameters(facts, all);
  const given = parameters.map((parameter) => labelOf(parameter)).join(', ');
  return Object.freeze({
    kind,
    schema,
    name,
    parameters,
    outputs: kind === 'procedure' ? outputPlaces(all) : Object.freeze([]),
    result: Object.freeze(decodeResult(facts, all, typeOf)),
    volatility: readCode(facts, 'volatility', volatilities),
    strict: readBoolean(facts, 'strict'),
    language: readText(facts, 'language'),
    comment: readTextOrNull(facts, 'comment'),
    signature: `${label(schema)}.${label(name)}(${given})`,
    ...(definition === null ? {} : { definition }),
  });
}

function readArguments(facts: JsonObject, typeOf: TypeLookup): readonly Argument[] {
  const types = readArray(facts, 'types', (where, value) => typeOf(decodeInteger(where, value), where));
  const names = readArrayOrNull(facts, 'names', decodeText) ?? [];
  const given = readArrayOrNull(facts, 'modes', (where, value) => decodeCode(where, value, modes));
  if (given && given.length !== types.length) {
    throw malformedRow(
      `${facts.path}.modes`,
      `must be as long as types (${types.length}); its length is ${given.length}`,
    );
  }
  return types.map((type, index) => ({ name: names[index] || null, mode: given?.[index] ?? 'in', type }));
}

function isInput(argument: Argument): boolean {
  return argument.mode === 'in' || argument.mode === 'inout' || argument.mode === 'variadic';
}

function isOutput(argument: Argument): boolean {
  return argument.mode === 'out' || argument.mode === 'inout' || argument.mode === 'table';
}

function inputParameters(facts: JsonObject, all: readonly Argument[]): readonly RoutineParameter[] {
  const inputs = all.filter(isInput);
  const firstDefault = inputs.length - readInteger(facts, 'defaults');
  return Object.freeze(
    inputs.map(({ name, mode, type }, index) =>
      Object.freeze({
        name,
        position: index + 1,
        type,
        hasDefault: index >= firstDefault,
        variadic: mode === 'variadic',
        mode: mode === 'inout' ? 'inout' : 'in',
      }),
    ),
  );
}

function outputPlaces(all: readonly Argument[]): Routine['outputs'] {
  const places = all.flatMap((argument, index) => {
    const before = all.slice(0, index).filter(isInput).length + 1;
    return argument.mode === 'out' ? [Object.freeze({ name: argument.name, before })] : [];
  });
  return Object.freeze(places);
}

function decodeResult(facts: JsonObject, all: readonly Argument[], typeOf: TypeLookup): RoutineResult {
  const returns = typeOf(readInteger(facts, 'returns'), `${facts.path}.returns`);
  const set = readBoolean(facts, 'set');
  const outputs = all.filter(isOutput);
  const display = displayOf(returns, set, outputs);
  const isProcedure = readText(facts, 'kind') === 'p';

  // PostgreSQL makes a row of the output parameters when there are several, or when a procedure has any.
  if (outputs.length > 1 || (isProcedure && outputs.length > 0)) {
    return { kind: 'composite', set, columns: columnsOf(outputs), named: false, display };
  }
  if (returns.builtin === 'void') return { kind: 'void', set, columns: Object.freeze([]), named: false, display };
  if (returns.builtin === 'record') return { kind: 'record', set, columns: Object.freeze([]), named: false, display };
  // A single column of `returns table` that is composite is spread out by PostgreSQL, like a result of that type.
  if (returns.fields) return { kind: 'composite', set, columns: returns.fields, named: true, type: returns, display };
  if (outputs[0]?.mode === 'table') {
    return { kind: 'composite', set, columns: columnsOf(outputs), named: false, display };
  }
  const column = Object.freeze({ name: outputs[0]?.name ?? readText(facts, 'name'), type: returns });
  return { kind: 'scalar', set, columns: Object.freeze([column]), named: false, display };
}

function columnsOf(outputs: readonly Argument[]): readonly Column[] {
  // Unnamed output parameters are called so by PostgreSQL.
  const columns = outputs.map(({ name, type }, index) => Object.freeze({ name: name ?? `column${index + 1}`, type }));
  return Object.freeze(columns);
}

function displayOf(returns: TypeFacts, set: boolean, outputs: readonly Argument[]): string {
  if (outputs.some(({ mode }) => mode === 'table')) {
    const columns = outputs.map(({ name, type }) => `${label(name ?? '')} ${type.display}`);
    return `TABLE(${columns.join(', ')})`;
  }
  return set ? `SETOF ${returns.display}` : returns.display;
}

function labelOf({ name, type, variadic }: RoutineParameter): string {
  return [...(variadic ? ['VARIADIC'] : []), ...(name === null ? [] : [label(name)]), type.display].join(' ');
}
