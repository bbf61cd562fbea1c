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
  readIntegerOrNull,
} from './json-object.ts';
import { displayIdentifier as label } from './quote.ts';
import type { Routine, RoutineParameter, RoutineResult } from './routine.ts';
import type { Column, TypeFacts } from './type-facts.ts';
import type { TypeLookup } from './type-lookup.ts';

type Mode = 'in' | 'out' | 'inout' | 'variadic' | 'table';

interface Argument {
  /** Null for an unnamed argument. */
  readonly name: string | null;
  readonly mode: Mode;
  readonly type: TypeFacts;
  readonly defaultExpression: string | null;
}

const modes = { i: 'in', o: 'out', b: 'inout', v: 'variadic', t: 'table' } as const;
const kinds = { f: 'function', p: 'procedure' } as const;
const volatilities = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

/** @param isBuiltIn whether the row is of the built-in query, whose comment is that of the catalog */
export function decodeRoutine(object: JsonObject, lookupType: TypeLookup, isBuiltIn: boolean): Routine {
  const kind = readCode(object, 'kind', kinds);
  const schema = readText(object, 'schema');
  const name = readText(object, 'name');
  const args = readArguments(object, lookupType);
  const definition = readTextOrNull(object, 'definition');
  const comment = readTextOrNull(object, 'comment');
  const parameters = inputParameters(object, args);
  const signature = parameters.map((parameter) => displayParameter(parameter)).join(', ');
  return Object.freeze({
    kind,
    schema,
    name,
    parameters,
    outputs: kind === 'procedure' ? outputOnlyParameters(args) : Object.freeze([]),
    result: Object.freeze(decodeResult(object, args, lookupType)),
    volatility: readCode(object, 'volatility', volatilities),
    ...(readIntegerOrNull(object, 'rows') === 1 ? { returnsOneRow: true } : {}),
    strict: readBoolean(object, 'strict'),
    language: readText(object, 'language'),
    comment,
    ...(isBuiltIn ? { catalogComment: comment } : {}),
    // A joined string does not retain its parts.
    signature: [label(schema), '.', label(name), '(', signature, ')'].join(''),
    ...(definition === null ? {} : { definition }),
  });
}

function readArguments(object: JsonObject, lookupType: TypeLookup): readonly Argument[] {
  const types = readArray(object, 'types', (where, value) => lookupType(decodeInteger(where, value), where));
  const names = readArrayOrNull(object, 'names', decodeText) ?? [];
  const argumentModes = readArrayOrNull(object, 'modes', (where, value) => decodeCode(where, value, modes));
  if (argumentModes && argumentModes.length !== types.length) {
    throw malformedRow(
      `${object.path}.modes`,
      `must be as long as types (${types.length}); its length is ${argumentModes.length}`,
    );
  }
  const defaults =
    readArrayOrNull(object, 'defaultExpressions', (where, value) =>
      value === null ? null : decodeText(where, value),
    ) ?? [];
  return types.map((type, index) => ({
    name: names[index] || null,
    mode: argumentModes?.[index] ?? 'in',
    type,
    defaultExpression: defaults[index] ?? null,
  }));
}

function isInput(argument: Argument): boolean {
  return argument.mode === 'in' || argument.mode === 'inout' || argument.mode === 'variadic';
}

function isOutput(argument: Argument): boolean {
  return argument.mode === 'out' || argument.mode === 'inout' || argument.mode === 'table';
}

function inputParameters(object: JsonObject, args: readonly Argument[]): readonly RoutineParameter[] {
  const inputs = args.filter(isInput);
  const firstDefault = inputs.length - readInteger(object, 'defaults');
  return Object.freeze(
    inputs.map(({ name, mode, type, defaultExpression }, index) => {
      const parameter: Omit<RoutineParameter, 'defaultExpression'> & { defaultExpression?: string } = {
        name,
        position: index + 1,
        type,
        hasDefault: index >= firstDefault,
        variadic: mode === 'variadic',
        mode: mode === 'inout' ? 'inout' : 'in',
      };
      if (defaultExpression !== null) parameter.defaultExpression = defaultExpression;
      return Object.freeze(parameter);
    }),
  );
}

function outputOnlyParameters(args: readonly Argument[]): Routine['outputs'] {
  const parameters = args.flatMap((argument, index) => {
    const before = args.slice(0, index).filter(isInput).length + 1;
    return argument.mode === 'out' ? [Object.freeze({ name: argument.name, before })] : [];
  });
  return Object.freeze(parameters);
}

function decodeResult(object: JsonObject, args: readonly Argument[], lookupType: TypeLookup): RoutineResult {
  const returns = lookupType(readInteger(object, 'returns'), `${object.path}.returns`);
  const set = readBoolean(object, 'set');
  const outputs = args.filter(isOutput);
  const display = displayResult(returns, set, outputs);
  const isProcedure = readText(object, 'kind') === 'p';

  // Several output parameters, or any of a procedure, form a row.
  if (outputs.length > 1 || (isProcedure && outputs.length > 0)) {
    return { kind: 'composite', set, columns: columnsOf(outputs), named: false, display };
  }
  if (returns.builtin === 'void') return { kind: 'void', set, columns: Object.freeze([]), named: false, display };
  if (returns.builtin === 'record') return { kind: 'record', set, columns: Object.freeze([]), named: false, display };
  // PostgreSQL expands a single composite column of `returns table`, like a result of that type.
  if (returns.fields) return { kind: 'composite', set, columns: returns.fields, named: true, type: returns, display };
  if (outputs[0]?.mode === 'table') {
    return { kind: 'composite', set, columns: columnsOf(outputs), named: false, display };
  }
  const column = Object.freeze({ name: outputs[0]?.name ?? readText(object, 'name'), type: returns });
  return { kind: 'scalar', set, columns: Object.freeze([column]), named: false, display };
}

function columnsOf(outputs: readonly Argument[]): readonly Column[] {
  // The names that PostgreSQL gives to unnamed output parameters.
  const columns = outputs.map(({ name, type }, index) => Object.freeze({ name: name ?? `column${index + 1}`, type }));
  return Object.freeze(columns);
}

function displayResult(returns: TypeFacts, set: boolean, outputs: readonly Argument[]): string {
  if (outputs.some(({ mode }) => mode === 'table')) {
    const columns = outputs.map(({ name, type }) => `${label(name ?? '')} ${type.display}`);
    return `TABLE(${columns.join(', ')})`;
  }
  return set ? `SETOF ${returns.display}` : returns.display;
}

function displayParameter({ name, type, variadic }: RoutineParameter): string {
  return [...(variadic ? ['VARIADIC'] : []), ...(name === null ? [] : [label(name)]), type.display].join(' ');
}
