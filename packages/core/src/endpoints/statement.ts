import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { JsonForm } from '../catalog/type-facts.ts';
import type { ResultColumn, Endpoint, EndpointParameter, RawFormat } from './endpoint.ts';

/** One argument of a call, in the order of the declaration. */
interface Argument {
  /** Null when it can only be passed by position. */
  readonly name: string | null;
  /** Null when this call leaves it out. */
  readonly sql: string | null;
  readonly parameter: EndpointParameter | null;
  readonly variadic: boolean;
}

/**
 * The SQL that calls the endpoint's routine with the parameters in `given`, whose values are `$1`, `$2`, … in that order.
 * Names come from the catalog and are quoted; every value is cast to its parameter's own type, so that overloads are told
 * apart by the plan and not by PostgreSQL's guess at an unknown literal. Throws a RangeError when `neededAsWell` is not null.
 */
export function buildCallStatement(endpoint: Endpoint, given: readonly EndpointParameter[]): string {
  const routine = `${quoteIdentifier(endpoint.schema)}.${quoteIdentifier(endpoint.name)}`;
  const call = `${routine}(${argumentList(endpoint, given)})`;
  return endpoint.kind === 'procedure' ? `call ${call}` : selectOf(endpoint, call);
}

/**
 * The parameter that must be given too, because a later one is given that can only go by position, without gaps: one that
 * has no name, or any where the variadic one is left out. With the variadic one, PostgreSQL fills in no defaults at all. Null when
 * the call can be made.
 */
export function findMissingArgument(endpoint: Endpoint, given: readonly EndpointParameter[]): EndpointParameter | null {
  const all = argumentsOf(endpoint, given);
  const variadic = all.some((argument) => argument.variadic && argument.sql !== null);
  return (
    all.slice(0, variadic ? all.length : positionalCount(all)).find((argument) => argument.sql === null)?.parameter ??
    null
  );
}

/** Inputs in order, with a `null` where CALL wants a placeholder for an output. */
function argumentsOf(endpoint: Endpoint, given: readonly EndpointParameter[]): readonly Argument[] {
  const placeholders = (before: number): Argument[] =>
    endpoint.outputs
      .filter((output) => output.before === before)
      .map(({ name }) => ({ name, sql: 'null', parameter: null, variadic: false }));
  const inputs = endpoint.parameters.flatMap((parameter, index): Argument[] => {
    const place = given.findIndex((one) => one.position === parameter.position);
    const sql = place < 0 ? null : `$${place + 1}::${parameter.type.sql}`;
    const name = parameter.unnamed ? null : parameter.name;
    return [...placeholders(index + 1), { name, sql, parameter, variadic: parameter.variadic }];
  });
  return [...inputs, ...placeholders(endpoint.parameters.length + 1)];
}

/**
 * Everything up to the last unnamed argument goes by position; after the first `name =>` nothing else may. Where the variadic one
 * is left to its default, all of them do: PostgreSQL finds a variadic routine by names only when that one is given too.
 */
function positionalCount(all: readonly Argument[]): number {
  const allByPlace = all.some(({ variadic, sql }) => variadic && sql === null);
  return all.findLastIndex(({ name, sql }) => sql !== null && (allByPlace || name === null)) + 1;
}

function argumentList(endpoint: Endpoint, given: readonly EndpointParameter[]): string {
  const all = argumentsOf(endpoint, given);
  const positional = positionalCount(all);
  const missing = findMissingArgument(endpoint, given);
  if (missing !== null) throw new RangeError(`${endpoint.id}: ${missing.name} must be given too`);
  return all
    .flatMap(({ name, sql, variadic }, index) => {
      if (sql === null) return [];
      const named = name === null || index < positional ? sql : `${quoteIdentifier(name)} => ${sql}`;
      return [variadic ? `variadic ${named}` : named];
    })
    .join(', ');
}

/** How a value of a column is asked for. */
type Asking = (column: ResultColumn, sql: string) => string;

/**
 * The SQL that makes the endpoint's answer of what CALL has given, whose columns are `$1`, `$2`, …: a row as a function with the same
 * outputs would give it. A NULL has no type to be read as: a domain could refuse what the procedure has left out.
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
  return selectColumns(columns, `(values (${values.join(', ')}))`, raw === null ? asJson : asText);
}

/** What stands around the call of a function, by the shape of its answer. */
function selectOf({ result, raw }: Endpoint, call: string): string {
  const ask = raw === null ? asJson : asText;
  switch (result.kind) {
    case 'nothing':
      return `select ${call}`;
    case 'value':
      return `select ${result.media === 'json' ? ask(result.column, call) : call}`;
    case 'values':
      return `select ${ask(result.column, '"r"."v"')} from ${call} as "r"("v")`;
    case 'objects':
      return selectColumns(result.columns, call, ask);
    case 'object':
      return result.nullable ? selectRow(result.columns, call, ask) : selectColumns(result.columns, call, ask);
    case 'record':
    case 'records':
      return selectRecord(call, raw);
  }
}

/** Only what PostgreSQL itself must convert is wrapped: a plain column costs nothing and can be inlined. */
function asJson(column: ResultColumn, sql: string): string {
  return column.type.json === 'converted' ? `pg_catalog.to_json(${sql})` : sql;
}

/** Every value arrives as PostgreSQL's text by itself. */
function asText(_: ResultColumn, sql: string): string {
  return sql;
}

/** The columns of the routine's own result, in order: fields of a composite one stand together. */
function resultNames(columns: readonly ResultColumn[]): readonly string[] {
  return [...new Set(columns.map(({ parentColumn, name }) => quoteIdentifier(parentColumn ?? name)))];
}

/** A column of a row, or the field of a composite column of it: `(row."column")."field"`. */
function reference(row: string, { parentColumn, name }: ResultColumn): string {
  const column = `${row}.${quoteIdentifier(parentColumn ?? name)}`;
  return parentColumn === undefined ? column : `(${column}).${quoteIdentifier(name)}`;
}

/** Plain references to a function in FROM: PostgreSQL can then inline the body of an SQL function. */
function selectColumns(columns: readonly ResultColumn[], call: string, ask: Asking): string {
  // A composite type may have no columns at all; `select from f()` gives its rows of nothing.
  if (columns.length === 0) return `select from ${call} as "r"`;
  const list = columns.map((column) => ask(column, reference('"r"', column)));
  return `select ${list.join(', ')} from ${call} as "r"(${resultNames(columns).join(', ')})`;
}

/**
 * The columns of an endpoint that answers rows, for a statement of somebody else's whose row is called so: `"r"."id"`, wrapped
 * where PostgreSQL has to convert. Empty for a row of nothing.
 */
export function buildSelectList({ result, raw }: Pick<Endpoint, 'result' | 'raw'>, row: string): string {
  const ask = raw === null ? asJson : asText;
  const columns = result.kind === 'objects' ? result.columns : [];
  return columns.map((column) => ask(column, reference(row, column))).join(', ');
}

/**
 * Wraps a query of the host whose columns are those of the endpoint's result, where PostgreSQL has to convert values to JSON or a composite
 * column is returned as its fields. Any other query stays as it is.
 */
export function convertQuery({ result, raw }: Pick<Endpoint, 'result' | 'raw'>, sql: string): string {
  const columns = 'columns' in result ? result.columns : 'column' in result ? [result.column] : [];
  const isText = raw !== null || (result.kind === 'value' && result.media === 'text');
  if (isText || columns.every(({ type, parentColumn }) => type.json !== 'converted' && parentColumn === undefined))
    return sql;
  const list = columns.map((column) => asJson(column, reference('"q"', column)));
  // The line break ends a comment of the query's last line.
  return `with "q" (${resultNames(columns).join(', ')}) as (${sql}\n) select ${list.join(', ')} from "q"`;
}

/**
 * A single row of a named type may be NULL, and in FROM that would turn into a row of NULLs. So the value is made first,
 * once (`offset 0` keeps PostgreSQL from putting the call in place of every reference), and then taken apart. `is distinct
 * from null` asks for the value itself: a row whose fields are all NULL is still a row.
 */
function selectRow(columns: readonly ResultColumn[], call: string, ask: Asking): string {
  const list = columns.map((column) => ask(column, reference('("r"."v")', column)));
  const select = list.length === 0 ? 'select' : `select ${list.join(', ')}`;
  return `${select} from (select ${call} as "v" offset 0) as "r" where "r"."v" is distinct from null`;
}

/**
 * One column: the record's values as PostgreSQL's own text (a boolean is `t`, a timestamp has a space), as a JSON array or as
 * a row of raw mode; NULL when the record is. Such a record cannot stand in FROM, and no SQL function takes one
 * apart but `row_to_json`, whose values are JSON's text and not PostgreSQL's. So the text of the record is split where
 * PostgreSQL documents it: fields after commas, empty for NULL, quoted where need be, with quotes and backslashes doubled.
 * A record without any field has the same text as one with a single NULL, and is answered as that.
 */
function selectRecord(call: string, raw: RawFormat | null): string {
  return `select case when "r"."v" is distinct from null then ${rowOfValues(raw)} end
from (select ${call} as "v" offset 0) as "r"`;
}

/**
 * Raw rows are whole here, separators included, since nobody else knows where one value ends. Nor do we know their types, so
 * with a separator all of them are in quotes.
 */
function rowOfValues(raw: RawFormat | null): string {
  if (raw === null) return `pg_catalog.to_json(array(${valuesOfRecord(recordValue)}))`;
  if (raw.separator === null) return `pg_catalog.array_to_string(array(${valuesOfRecord(recordValue)}), '', '')`;
  const inQuotes = `'"' operator(pg_catalog.||) pg_catalog.replace(${recordValue}, '"', '""') operator(pg_catalog.||) '"'`;
  return `pg_catalog.array_to_string(array(${valuesOfRecord(inQuotes)}), ${quoteLiteral(raw.separator)}, '')`;
}

function valuesOfRecord(value: string): string {
  return `
  select ${value}
  from pg_catalog.regexp_matches(
    ',' operator(pg_catalog.||) pg_catalog.substr("r"."v"::pg_catalog.text, 2, pg_catalog.length("r"."v"::pg_catalog.text) operator(pg_catalog.-) 2),
    E',("(?:[^"\\\\\\\\]|""|\\\\\\\\\\\\\\\\)*"|[^",]*)', 'g') with ordinality as "f"("m", "o")
  order by "f"."o"`;
}

/** One field of a record's text as the value that it stands for. */
const recordValue = `case
    when "f"."m"[1] operator(pg_catalog.=) '' then null
    when pg_catalog.left("f"."m"[1], 1) operator(pg_catalog.=) '"' then pg_catalog.replace(pg_catalog.replace(
      pg_catalog.substr("f"."m"[1], 2, pg_catalog.length("f"."m"[1]) operator(pg_catalog.-) 2), '""', '"'), E'\\\\\\\\', E'\\\\')
    else "f"."m"[1] end`;

const oids: Readonly<Record<JsonForm, readonly number[] | null>> = {
  number: [20, 21, 23, 700, 701, 1700],
  boolean: [16],
  timestamp: [1114],
  timestamptz: [1184],
  json: [114, 3802],
  converted: [114, 3802],
  // Any type's text can be a JSON string.
  string: null,
};

/** Per column: the OIDs of the types that its reader can take, null for any. */
type ColumnTypes = readonly (readonly number[] | null)[];

/**
 * What the call's statement gives. A routine that has changed since the catalog was read shows itself by that when its statement is
 * prepared.
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

/** What the statement gives that converts the row of a CALL. Where a text went in, it comes out. */
export function conversionColumnTypes(endpoint: Endpoint): ColumnTypes {
  const { result, outputConversion } = endpoint;
  const columns = result.kind === 'object' ? result.columns : [];
  const passed = new Set(outputConversion!.flatMap(({ name, type }) => (type === null ? [name] : [])));
  return resultColumnTypes(endpoint).map((oids, index) => {
    const { parentColumn, name } = columns[index]!;
    return parentColumn === undefined && passed.has(name) ? null : oids;
  });
}

/** What the answer's form can take. */
export function resultColumnTypes(endpoint: Endpoint): ColumnTypes {
  const { result, raw } = endpoint;
  const taken = (column: ResultColumn): readonly number[] | null =>
    raw === null ? oids[column.type.json] : rawTypes(column, raw);
  switch (result.kind) {
    case 'nothing':
      // A void function gives a column that nobody reads; CALL without outputs and what writes to a table give none.
      return endpoint.kind === 'function' ? [null] : [];
    case 'value':
      // Where it is not converted, a type with a mere cast to json is text.
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

/** Raw mode takes any text; but where there is a separator, it is the type that says whether a value needs quotes. */
function rawTypes({ type }: ResultColumn, { separator }: RawFormat): readonly number[] | null {
  const bare = separator !== null && (type.json === 'number' || type.json === 'boolean');
  return bare ? oids[type.json] : null;
}
