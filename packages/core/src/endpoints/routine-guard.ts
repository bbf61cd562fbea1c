import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { RoutineGuard } from '../catalog/routine.ts';
import type { Endpoint, EndpointParameter } from './endpoint.ts';
import type { NamedType } from './named-type.ts';
import { buildCallStatement } from './statement.ts';

/** The place of the condition. No SQL text contains it. */
const place = '\0';
/** Fields of a composite type whose order is checked; the text of the check grows with the square of their number. */
const maxOrderedFields = 32;

/**
 * Returns the guard of a call. Null for a procedure without arguments: CALL has no place for a condition.
 * @param comment the comment of the routine in the catalog
 */
export function buildRoutineGuard(
  endpoint: Endpoint,
  given: readonly EndpointParameter[],
  comment: string | null,
): RoutineGuard | null {
  const { schema, name, parameters } = endpoint;
  const sql = endpoint.kind === 'procedure' ? guardCall(endpoint, given) : guardSelect(endpoint, given);
  const [before, after] = sql.split(place);
  if (after === undefined) return null;
  const quoted = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  const signature = `${quoted}(${parameters.map(({ type }) => type.sql).join(',')})`;
  return {
    schema,
    name,
    signature,
    reference: {
      byName: `${quoteLiteral(quoted)}::pg_catalog.regproc`,
      bySignature: `${quoteLiteral(signature)}::pg_catalog.regprocedure`,
    },
    comment,
    sql: [before!, after],
  };
}

/** Returns the guard of a statement that contains the guarded one. */
export function wrapGuard(guard: RoutineGuard, wrap: (sql: string) => string): RoutineGuard {
  const [before, after] = wrap(guard.sql.join(place)).split(place);
  return { ...guard, sql: [before!, after!] };
}

function guardSelect(endpoint: Endpoint, given: readonly EndpointParameter[]): string {
  const { result } = endpoint;
  const hasWhere = result.kind === 'object' && result.nullable;
  const conditions = [place, ...given.flatMap((parameter) => fieldsCondition(parameter, hasPlace))].join(' and ');
  return `${buildCallStatement(endpoint, given)} ${hasWhere ? 'and' : 'where'} ${conditions}`;
}

function guardCall(endpoint: Endpoint, given: readonly EndpointParameter[]): string {
  const conditions = [place, ...given.flatMap((parameter) => fieldsCondition(parameter, hasName))].join(' and ');
  return buildCallStatement(endpoint, given, (argument) => `case when ${conditions} then ${argument} end`);
}

/** Returns an expression that PostgreSQL refuses to parse when a field of a composite value is missing, or at another place. */
type FieldCheck = (value: string, names: readonly string[], index: number) => string;

/**
 * Returns a condition that is true, and that PostgreSQL refuses to parse when the fields of a composite parameter have changed: its value is
 * passed by position. Behind `when true`, nothing is planned.
 */
function fieldsCondition({ type }: EndpointParameter, check: FieldCheck): readonly string[] {
  const checks = [...checkFields(type, `null::${type.sql}`, check)];
  return checks.length === 0 ? [] : [`case when true then true else ${checks.join(' and ')} end`];
}

/** @param value an expression of the type */
function* checkFields({ element, fields = [] }: NamedType, value: string, check: FieldCheck): Iterable<string> {
  if (element !== undefined) yield* checkFields(element, `(${value})[1]`, check);
  const names = fields.map(({ name }) => name);
  for (const [index, { name, type }] of fields.entries()) {
    yield check(value, names, index);
    yield* checkFields(type, `(${value}).${quoteIdentifier(name)}`, check);
  }
}

/** An argument of CALL cannot contain a subquery. */
function hasName(value: string, names: readonly string[], index: number): string {
  return `(${value}).${quoteIdentifier(names[index]!)} is null`;
}

/** The columns before the field get other names, so that it is not one of them. */
function hasPlace(value: string, names: readonly string[], index: number): string {
  const other = differentPrefix(names);
  const renamed = names.length > maxOrderedFields ? [] : names.slice(0, index).map((_, at) => `"${other}${at}"`);
  const columns = renamed.length === 0 ? '' : `(${renamed.join(', ')})`;
  return `exists (select "c".${quoteIdentifier(names[index]!)} from (select (${value}).*) as "c"${columns})`;
}

/** Returns a text that no name begins with. */
function differentPrefix(names: readonly string[]): string {
  let prefix = '_';
  while (names.some((name) => name.startsWith(prefix))) prefix += '_';
  return prefix;
}
