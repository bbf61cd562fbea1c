import type { JsonForm } from '../catalog/routine.ts';
import type { AnswerColumn, Endpoint, EndpointParameter } from './endpoint.ts';
import { quoteIdentifier } from './quote.ts';

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
export function callStatement(endpoint: Endpoint, given: readonly EndpointParameter[]): string {
  const routine = `${quoteIdentifier(endpoint.schema)}.${quoteIdentifier(endpoint.name)}`;
  const call = `${routine}(${argumentList(endpoint, given)})`;
  return endpoint.kind === 'procedure' ? `call ${call}` : selectOf(endpoint, call);
}

/**
 * The parameter that must be given too, because a later one is given that has no name: PostgreSQL takes unnamed arguments
 * by position only, without gaps. Null when the call can be made.
 */
export function neededAsWell(endpoint: Endpoint, given: readonly EndpointParameter[]): EndpointParameter | null {
  const all = argumentsOf(endpoint, given);
  return all.slice(0, positionalCount(all)).find((argument) => argument.sql === null)?.parameter ?? null;
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

/** Everything up to the last unnamed argument goes by position; after the first `name =>` nothing else may. */
function positionalCount(all: readonly Argument[]): number {
  return all.findLastIndex((argument) => argument.name === null && argument.sql !== null) + 1;
}

function argumentList(endpoint: Endpoint, given: readonly EndpointParameter[]): string {
  const all = argumentsOf(endpoint, given);
  const positional = positionalCount(all);
  const missing = neededAsWell(endpoint, given);
  if (missing !== null) throw new RangeError(`${endpoint.id}: ${missing.name} must be given too`);
  return all
    .flatMap(({ name, sql, variadic }, index) => {
      if (sql === null) return [];
      const named = name === null || index < positional ? sql : `${quoteIdentifier(name)} => ${sql}`;
      return [variadic ? `variadic ${named}` : named];
    })
    .join(', ');
}

/** What stands around the call of a function, by the shape of its answer. */
function selectOf({ answer }: Endpoint, call: string): string {
  switch (answer.kind) {
    case 'nothing':
      return `select ${call}`;
    case 'value':
      return `select ${answer.media === 'json' ? asJson(answer.column, call) : call}`;
    case 'values':
      return `select ${asJson(answer.column, '"r"."v"')} from ${call} as "r"("v")`;
    case 'objects':
      return selectColumns(answer.columns, call);
    case 'object':
      return answer.nullable ? selectRow(answer.columns, call) : selectColumns(answer.columns, call);
    case 'record':
    case 'records':
      return selectRecord(call);
  }
}

/** Only what PostgreSQL itself must convert is wrapped: a plain column costs nothing and can be inlined. */
function asJson(column: AnswerColumn, sql: string): string {
  return column.type.json === 'converted' ? `pg_catalog.to_json(${sql})` : sql;
}

/** Plain references to a function in FROM: PostgreSQL can then inline the body of an SQL function. */
function selectColumns(columns: readonly AnswerColumn[], call: string): string {
  // A composite type may have no columns at all; `select from f()` gives its rows of nothing.
  if (columns.length === 0) return `select from ${call} as "r"`;
  const names = columns.map((column) => quoteIdentifier(column.name));
  const list = columns.map((column, index) => asJson(column, `"r".${names[index]}`));
  return `select ${list.join(', ')} from ${call} as "r"(${names.join(', ')})`;
}

/**
 * A single row of a named type may be NULL, and in FROM that would turn into a row of NULLs. So the value is made first,
 * once (`offset 0` keeps PostgreSQL from putting the call in place of every reference), and then taken apart. `is distinct
 * from null` asks for the value itself: a row whose fields are all NULL is still a row.
 */
function selectRow(columns: readonly AnswerColumn[], call: string): string {
  const list = columns.map((column) => asJson(column, `("r"."v").${quoteIdentifier(column.name)}`));
  const select = list.length === 0 ? 'select' : `select ${list.join(', ')}`;
  return `${select} from (select ${call} as "v" offset 0) as "r" where "r"."v" is distinct from null`;
}

/**
 * One column: a JSON array of the record's values as PostgreSQL's own text (a boolean is `t`, a timestamp has a space),
 * NULL as null; the column is NULL when the record is. Such a record cannot stand in FROM, and no SQL function takes one
 * apart but `row_to_json`, whose values are JSON's text and not PostgreSQL's. So the text of the record is split where
 * PostgreSQL documents it: fields after commas, empty for NULL, quoted where need be, with quotes and backslashes doubled.
 * A record without any field has the same text as one with a single NULL, and is answered as that.
 */
function selectRecord(call: string): string {
  return `select case when "r"."v" is distinct from null then pg_catalog.to_json(array(
  select case
    when "f"."m"[1] = '' then null
    when pg_catalog.left("f"."m"[1], 1) = '"' then pg_catalog.replace(pg_catalog.replace(
      pg_catalog.substr("f"."m"[1], 2, pg_catalog.length("f"."m"[1]) - 2), '""', '"'), E'\\\\\\\\', E'\\\\')
    else "f"."m"[1] end
  from pg_catalog.regexp_matches(
    ',' || pg_catalog.substr("r"."v"::text, 2, pg_catalog.length("r"."v"::text) - 2),
    E',("(?:[^"\\\\\\\\]|""|\\\\\\\\\\\\\\\\)*"|[^",]*)', 'g') with ordinality as "f"("m", "o")
  order by "f"."o")) end
from (select ${call} as "v" offset 0) as "r"`;
}

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

/**
 * Per column of the statement's result: the OIDs of the types that the answer's JSON forms can take, null for any. A
 * routine that has changed since the catalog was read shows itself by them when its statement is prepared.
 */
export function resultColumns(endpoint: Endpoint): readonly (readonly number[] | null)[] {
  const { answer } = endpoint;
  switch (answer.kind) {
    case 'nothing':
      // A void function gives a column that nobody reads; CALL without outputs gives none.
      return endpoint.kind === 'procedure' ? [] : [null];
    case 'value':
      // Not converted, so a type with a mere cast to json is text.
      return [
        answer.media !== 'json' && answer.column.type.json === 'converted' ? null : oids[answer.column.type.json],
      ];
    case 'values':
      return [oids[answer.column.type.json]];
    case 'object':
    case 'objects':
      return answer.columns.map((column) => oids[column.type.json]);
    case 'record':
    case 'records':
      return [oids.json];
  }
}
