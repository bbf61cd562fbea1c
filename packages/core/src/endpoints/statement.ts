import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { JsonForm } from '../catalog/type-facts.ts';
import type { ResultColumn, Endpoint, EndpointParameter, RawFormat } from './endpoint.ts';
import { writeStoredValue, writeValueQuery } from './value-sql.ts';

/** An argument of a call, in the order of the declaration. */
interface Argument {
  /** Null for an argument that can only be passed by position. */
  readonly name: string | null;
  /** Null for an omitted argument. */
  readonly sql: string | null;
  readonly parameter: EndpointParameter | null;
  readonly variadic: boolean;
}

/**
 * Returns the SQL that calls the routine with the parameters in `given`, as `$1`, `$2`, … in that order. Every value is cast
 * to the type of its parameter, which selects the overload. Throws a RangeError when `findMissingArgument` is not null.
 * @param wrapFirst changes the expression of the first given argument
 */
export function buildCallStatement(
  endpoint: Endpoint,
  given: readonly EndpointParameter[],
  wrapFirst?: WrapArgument,
): string {
  const call = buildCall(endpoint, given, wrapFirst);
  return endpoint.kind === 'procedure' ? flat('call ', call) : buildSelect(endpoint, call);
}

/** Returns the call alone: `"schema"."name"("a" => $1::…)`. */
export function buildCall(endpoint: Endpoint, given: readonly EndpointParameter[], wrapFirst?: WrapArgument): string {
  return `${quoteIdentifier(endpoint.schema)}.${quoteIdentifier(endpoint.name)}(${argumentList(endpoint, given, wrapFirst)})`;
}

type WrapArgument = (sql: string) => string;

/** Concatenates the parts of a statement that the endpoint retains. A template would retain each part too. */
function flat(...parts: readonly string[]): string {
  return parts.join('');
}

/**
 * Returns an omitted parameter that the call requires, or null. Arguments before a positional one cannot be omitted, and
 * PostgreSQL uses no defaults together with a variadic argument.
 */
export function findMissingArgument(endpoint: Endpoint, given: readonly EndpointParameter[]): EndpointParameter | null {
  return findMissing(listArguments(endpoint, given));
}

function findMissing(all: readonly Argument[]): EndpointParameter | null {
  const variadic = all.some((argument) => argument.variadic && argument.sql !== null);
  return (
    all.slice(0, variadic ? all.length : positionalCount(all)).find((argument) => argument.sql === null)?.parameter ??
    null
  );
}

/** Returns the inputs in order, with a `null` placeholder for each output parameter of CALL. */
function listArguments(endpoint: Endpoint, given: readonly EndpointParameter[]): readonly Argument[] {
  const inputs = endpoint.parameters.map((parameter): Argument => {
    const givenIndex = given.findIndex(({ position }) => position === parameter.position);
    const value = givenIndex < 0 ? null : `$${givenIndex + 1}`;
    const source = parameter.query === undefined ? value : writeQueryValue(endpoint, parameter, given);
    const sql = source === null ? null : `${source}::${parameter.type.sql}`;
    return { name: parameter.unnamed ? null : parameter.name, sql, parameter, variadic: parameter.variadic };
  });
  if (endpoint.outputs.length === 0) return inputs;
  const placeholders = (before: number): Argument[] =>
    endpoint.outputs
      .filter((output) => output.before === before)
      .map(({ name }) => ({ name, sql: 'null', parameter: null, variadic: false }));
  return [
    ...inputs.flatMap((input, index) => [...placeholders(index + 1), input]),
    ...placeholders(endpoint.parameters.length + 1),
  ];
}

/** An argument of CALL cannot contain a subquery: a statement before it has stored the value. */
function writeQueryValue(
  { kind, parameters }: Endpoint,
  parameter: EndpointParameter,
  given: readonly EndpointParameter[],
): string {
  return kind === 'procedure'
    ? writeStoredValue(parameters, parameter)
    : writeValueQuery(parameter.query!, parameters, given);
}

/**
 * Returns the number of positional arguments: up to the last unnamed one, as none may follow `name =>`. Without the variadic
 * argument all are positional, because PostgreSQL then does not resolve a variadic routine by names.
 */
function positionalCount(all: readonly Argument[]): number {
  const allPositional = all.some(({ variadic, sql }) => variadic && sql === null);
  return all.findLastIndex(({ name, sql }) => sql !== null && (allPositional || name === null)) + 1;
}

function argumentList(
  endpoint: Endpoint,
  given: readonly EndpointParameter[],
  wrapFirst: WrapArgument = (sql) => sql,
): string {
  const all = listArguments(endpoint, given);
  const first = all.findIndex(({ parameter, sql }) => parameter !== null && sql !== null);
  const positional = positionalCount(all);
  const missing = findMissing(all);
  if (missing !== null) throw new RangeError(`${endpoint.id}: ${missing.name} must be passed too`);
  return all
    .flatMap(({ name, sql: value, variadic }, index) => {
      if (value === null) return [];
      const sql = index === first ? wrapFirst(value) : value;
      const named = name === null || index < positional ? sql : `${quoteIdentifier(name)} => ${sql}`;
      return [variadic ? `variadic ${named}` : named];
    })
    .join(', ');
}

/** Returns the SQL expression that selects a value of a column. */
type ColumnExpression = (column: ResultColumn, sql: string) => string;

/**
 * Returns the SQL that converts the output columns of CALL, as `$1`, `$2`, …, to the row of a function with the same outputs. A
 * NULL is not cast to its type, because a domain may reject it.
 */
export function buildConversionStatement(
  { result, raw, outputConversion }: Endpoint,
  isNull: readonly boolean[],
): string {
  const columns = result.kind === 'object' ? result.columns : [];
  const whole = new Set(columns.flatMap(({ parentColumn, name }) => (parentColumn === undefined ? [name] : [])));
  const values = outputConversion!.map(({ name, type }, index) => {
    const plain =
      type === null ? 'pg_catalog.text' : isNull[index] === true && whole.has(name) ? 'pg_catalog.json' : type;
    return `$${index + 1}::${plain}`;
  });
  const source = { call: `(values (${values.join(', ')}))`, withOrdinality: false, isNamed: false };
  return selectColumns(columns, source, raw === null ? asJson : asText);
}

/** Wraps the call of a function, depending on the result shape. */
function buildSelect({ result, raw, citus }: Endpoint, call: string): string {
  const express = raw === null ? asJson : asText;
  const source = { call, withOrdinality: citus?.withOrdinality === true, isNamed: true };
  switch (result.kind) {
    case 'nothing':
      return flat('select ', call);
    case 'value':
      return flat('select ', result.media === 'json' ? express(result.column, call) : call);
    case 'values':
      return flat('select ', express(result.column, '"r"."v"'), ' from ', functionInFrom(source, ['"v"']));
    case 'objects':
      return selectColumns(result.columns, source, express);
    case 'object':
      return result.nullable
        ? selectRow(result.columns, call, express)
        : selectColumns(result.columns, { ...source, withOrdinality: false }, express);
    case 'record':
    case 'records':
      return selectRecord(call, raw);
  }
}

/** Wraps only columns that PostgreSQL must convert; plain columns are cheaper and can be inlined. */
function asJson(column: ResultColumn, sql: string): string {
  return column.type.json === 'converted' ? `pg_catalog.to_json(${sql})` : sql;
}

/** Selects the value unchanged, as PostgreSQL sends its text format. */
function asText(_: ResultColumn, sql: string): string {
  return sql;
}

/** Returns the quoted columns of the routine's result, without the fields of composite columns. */
function resultNames(columns: readonly ResultColumn[]): readonly string[] {
  return [...new Set(columns.map(({ parentColumn, name }) => quoteIdentifier(parentColumn ?? name)))];
}

/** Returns a reference to a column, or to a field of a composite column: `(row."column")."field"`. */
function reference(row: string, { parentColumn, name }: ResultColumn): string {
  const column = `${row}.${quoteIdentifier(parentColumn ?? name)}`;
  return parentColumn === undefined ? column : `(${column}).${quoteIdentifier(name)}`;
}

/** A call, or a list of values, that FROM takes. */
interface RowSource {
  readonly call: string;
  readonly withOrdinality: boolean;
  /** Whether its columns have the names of the result. */
  readonly isNamed: boolean;
}

/** Selects from the function in FROM, so that PostgreSQL can inline SQL functions. */
function selectColumns(columns: readonly ResultColumn[], source: RowSource, express: ColumnExpression): string {
  const from = namedColumns(source, resultNames(columns));
  const list = columns.map((column) => express(column, reference('"r"', column)));
  // A composite type without columns has empty rows.
  return list.length === 0 ? flat('select from ', from) : flat('select ', list.join(', '), ' from ', from);
}

/**
 * Returns the item of FROM with the column names of the routine: names in the item would rename by position, so that columns in another
 * order would have each other's values. A list of values has no names, nor has a column called like the one of ORDINALITY a second name.
 */
function namedColumns(source: RowSource, names: readonly string[]): string {
  const { call, withOrdinality, isNamed } = source;
  if (!isNamed || (withOrdinality && names.includes(ordinalityColumn))) return functionInFrom(source, names);
  return withOrdinality ? `${call} with ordinality as "r"` : `${call} as "r"`;
}

const ordinalityColumn = quoteIdentifier('ordinality');

/**
 * Returns the item of FROM with the names of its columns. PostgreSQL does not inline a function WITH ORDINALITY, whose additional
 * column has a name that no other column has.
 */
function functionInFrom({ call, withOrdinality }: RowSource, names: readonly string[]): string {
  if (!withOrdinality) return names.length === 0 ? `${call} as "r"` : `${call} as "r"(${names.join(', ')})`;
  let ordinality = 'ordinality';
  while (names.includes(quoteIdentifier(ordinality))) ordinality += '_';
  return `${call} with ordinality as "r"(${[...names, quoteIdentifier(ordinality)].join(', ')})`;
}

/** Returns the columns of an endpoint with rows, for the row alias `row`, as `convertQuery` expects them. */
export function buildColumnList({ result }: Pick<Endpoint, 'result'>, row: string): string {
  const columns = result.kind === 'objects' ? result.columns : [];
  return resultNames(columns)
    .map((name) => `${row}.${name}`)
    .join(', ');
}

/** Returns the select list of an endpoint with rows, for the row alias `row`: `"r"."id"`. Empty without columns. */
export function buildSelectList({ result, raw }: Pick<Endpoint, 'result' | 'raw'>, row: string): string {
  const express = raw === null ? asJson : asText;
  const columns = result.kind === 'objects' ? result.columns : [];
  return columns.map((column) => express(column, reference(row, column))).join(', ');
}

/**
 * Wraps a query whose columns are those of the endpoint's result, where PostgreSQL has to convert values to JSON or a composite
 * column is returned as its fields. Any other query stays as it is.
 */
export function convertQuery(endpoint: Pick<Endpoint, 'result' | 'raw'>, sql: string): string {
  const parts = convertParts(endpoint, sql);
  return parts === null ? sql : `with ${parts.query} ${parts.select}`;
}

/**
 * Returns a query of WITH with the rows of `sql`, and the query that converts them; null when no column has to be converted.
 * @param row the quoted name of the query
 */
export function convertParts(
  { result, raw }: Pick<Endpoint, 'result' | 'raw'>,
  sql: string,
  row: string = '"q"',
): { readonly query: string; readonly select: string } | null {
  const columns = 'columns' in result ? result.columns : 'column' in result ? [result.column] : [];
  const isText = raw !== null || (result.kind === 'value' && result.media === 'text');
  if (isText || columns.every(({ type, parentColumn }) => type.json !== 'converted' && parentColumn === undefined))
    return null;
  const list = columns.map((column) => asJson(column, reference(row, column)));
  // The line break ends a comment of the query's last line.
  return {
    query: `${row} (${resultNames(columns).join(', ')}) as (${sql}\n)`,
    select: `select ${list.join(', ')} from ${row}`,
  };
}

/**
 * Selects a row of a named type that may be NULL, which FROM would turn into a row of NULLs. `offset 0` keeps PostgreSQL from
 * repeating the call. `is distinct from null` is true for a row whose fields are all NULL.
 */
function selectRow(columns: readonly ResultColumn[], call: string, express: ColumnExpression): string {
  const list = columns.map((column) => express(column, reference('("r"."v")', column)));
  const row = `(select ${call} as "v" offset 0) as "r" where "r"."v" is distinct from null`;
  return flat(list.length === 0 ? 'select' : 'select ', list.join(', '), ' from ', row);
}

/**
 * Selects the values of an untyped record in PostgreSQL's text format, as a JSON array or a raw row; NULL for a NULL record.
 * PostgreSQL has no function for this, so the text of the record is split (PostgreSQL manual, "Composite Type Input and
 * Output Syntax"). An empty record has the same text as a record with one NULL.
 */
function selectRecord(call: string, raw: RawFormat | null): string {
  return `select case when "r"."v" is distinct from null then ${joinRecordValues(raw)} end
from (select ${call} as "v" offset 0) as "r"`;
}

/** Builds a JSON array or a whole raw row. With a separator, all values are in quotes, because their types are unknown. */
function joinRecordValues(raw: RawFormat | null): string {
  if (raw === null) return `pg_catalog.to_json(array(${selectRecordValues(recordValue)}))`;
  if (raw.separator === null) return `pg_catalog.array_to_string(array(${selectRecordValues(recordValue)}), '', '')`;
  const inQuotes = `'"' operator(pg_catalog.||) pg_catalog.replace(${recordValue}, '"', '""') operator(pg_catalog.||) '"'`;
  return `pg_catalog.array_to_string(array(${selectRecordValues(inQuotes)}), ${quoteLiteral(raw.separator)}, '')`;
}

function selectRecordValues(value: string): string {
  return `
  select ${value}
  from pg_catalog.regexp_matches(
    ',' operator(pg_catalog.||) pg_catalog.substr("r"."v"::pg_catalog.text, 2, pg_catalog.length("r"."v"::pg_catalog.text) operator(pg_catalog.-) 2),
    E',("(?:[^"\\\\\\\\]|""|\\\\\\\\\\\\\\\\)*"|[^",]*)', 'g') with ordinality as "f"("m", "o")
  order by "f"."o"`;
}

/** The value of a field in the text of a record. */
const recordValue = `case
    when "f"."m"[1] operator(pg_catalog.=) '' then null
    when pg_catalog.left("f"."m"[1], 1) operator(pg_catalog.=) '"' then pg_catalog.replace(pg_catalog.replace(
      pg_catalog.substr("f"."m"[1], 2, pg_catalog.length("f"."m"[1]) operator(pg_catalog.-) 2), '""', '"'), E'\\\\\\\\', E'\\\\')
    else "f"."m"[1] end`;

const oids: Readonly<Record<JsonForm, readonly number[] | null>> = {
  number: [20, 21, 23, 700, 701, 1700],
  numberText: [20, 1700],
  boolean: [16],
  timestamp: [1114],
  timestamptz: [1184],
  json: [114, 3802],
  converted: [114, 3802],
  // The text of any type can be a JSON string.
  string: null,
};

/** The accepted type OIDs of each column; null accepts any. */
type ColumnTypes = readonly (readonly number[] | null)[];

/**
 * Returns the accepted types of the columns of the call. A mismatch in the prepared statement means that the routine has
 * changed since the catalog was read.
 */
export function callColumnTypes(endpoint: Endpoint): ColumnTypes {
  const { result, outputConversion } = endpoint;
  if (outputConversion === undefined || result.kind !== 'object') return resultColumnTypes(endpoint);
  const taken = resultColumnTypes(endpoint);
  return outputConversion.map(({ name, type }) =>
    type === null
      ? taken[result.columns.findIndex((column) => column.parentColumn === undefined && column.name === name)]!
      : null,
  );
}

/** Returns the names of the output columns of CALL; null for other calls, whose statements select columns by name. */
export function outputNames({ kind, outputConversion, result }: Endpoint): readonly string[] | null {
  if (kind !== 'procedure' || result.kind !== 'object') return null;
  return (outputConversion ?? result.columns).map(({ name }) => name);
}

/** Returns the accepted types of the columns of the conversion statement, which passes texts through. */
export function conversionColumnTypes(endpoint: Endpoint): ColumnTypes {
  const { result, outputConversion } = endpoint;
  const columns = result.kind === 'object' ? result.columns : [];
  const passed = new Set(outputConversion!.flatMap(({ name, type }) => (type === null ? [name] : [])));
  return resultColumnTypes(endpoint).map((oids, index) => {
    const { parentColumn, name } = columns[index]!;
    return parentColumn === undefined && passed.has(name) ? null : oids;
  });
}

/** Returns the accepted types of the columns of the result shape. */
export function resultColumnTypes(endpoint: Endpoint): ColumnTypes {
  const { result, raw } = endpoint;
  const taken = (column: ResultColumn): readonly number[] | null =>
    raw === null ? oids[column.type.json] : rawTypes(column, raw);
  switch (result.kind) {
    case 'nothing':
      // A void function returns an unused column; CALL without outputs and table writes return none.
      return endpoint.kind === 'function' ? [null] : [];
    case 'value':
      // A single value of a type with a cast to json is text.
      return [result.media === 'text' && result.column.type.json === 'converted' ? null : taken(result.column)];
    case 'values':
      return [taken(result.column)];
    case 'object':
    case 'objects':
      return result.columns.map(taken);
    case 'record':
    case 'records':
      return [raw === null ? oids.json : null];
  }
}

/** Raw mode accepts any type. With a separator, the type decides about quotes. */
function rawTypes({ type }: ResultColumn, { separator }: RawFormat): readonly number[] | null {
  const bare = separator !== null && (type.json === 'number' || type.json === 'numberText' || type.json === 'boolean');
  return bare ? oids[type.json] : null;
}
