import type { TableColumn, ValueSource } from '@pgway/core';
import { type DatabaseError, listSize, maxBodyBytes, quoteIdentifier, type SqlText, text } from '@pgway/core/internal';
import { isDatabaseError } from './database-error.ts';
import { postgrestProblem } from './postgrest-problem.ts';
import { mergedRowsSetting } from './write-statements.ts';

/** The CTE of the rows that a statement returns. */
export const sourceAlias = '"source"';

/** The result of a write, from the columns of its row. */
export interface WriteResult {
  /** The number of affected rows. */
  readonly affected: number;
  /** The number of rows of an upsert that were there before. */
  readonly merged: number;
  /** The texts of the primary key, if one row is affected; null: not asked for, or there are other rows. */
  readonly location: readonly (string | null)[] | null;
  /** The returned rows as JSON; null: not asked for. */
  readonly body: string | null;
}

/**
 * Limits the rows that a statement may affect, or the bytes of its returned rows. The statement fails beyond them, so that nothing is
 * changed.
 */
export interface ResultGuard {
  readonly kind: 'single' | 'maximum' | 'size' | 'rows' | 'all';
  readonly limit: number;
  /** The text of the error, which no data can contain by chance. */
  readonly token: string;
}

export interface ResultParts {
  /** INSERT, UPDATE or DELETE, without RETURNING; or a SELECT of no row. */
  readonly statement: SqlText;
  /** Whether the statement is a SELECT of the returned columns. */
  readonly isSelect: boolean;
  readonly returned: readonly TableColumn[];
  /** The expression of all returned rows, over the CTE `"source"`; null: none. */
  readonly body: SqlText | null;
  /** The primary key, for `Location`; empty: not asked for. */
  readonly location: readonly TableColumn[];
  readonly guards: readonly ResultGuard[];
}

const affected = '"total"."affected"';
const returnedBody = '"returned"."body"';

/** Returns a statement of one row that writes, and describes what it has written. */
export function resultStatement({ statement, isSelect, returned, body, location, guards }: ResultParts): SqlText {
  const columns = returned.length === 0 ? '1' : returned.map(({ name }) => `"r".${quoteIdentifier(name)}`).join(', ');
  const sql = text(`with ${sourceAlias} as (`)
    .append(statement)
    .add(isSelect ? '' : ` returning ${columns}`)
    .add(`) select ${affected}, pg_catalog.current_setting('${mergedRowsSetting}', true), `)
    .add(locationSql(location))
    .add(', ')
    .add(body === null ? 'null' : returnedBody);
  for (const guard of guards) sql.append(guardSql(guard));
  sql.add(` from (select pg_catalog.count(*) as "affected" from ${sourceAlias}) as "total"`);
  // With an offset, PostgreSQL evaluates the rows once.
  return body === null ? sql : sql.add(' cross join (select ').append(body).add(' as "body" offset 0) as "returned"');
}

function locationSql(key: readonly TableColumn[]): string {
  if (key.length === 0) return 'null';
  const texts = key.map(({ name }) => `${sourceAlias}.${quoteIdentifier(name)}::pg_catalog.text`).join(', ');
  const row = `(select pg_catalog.json_build_array(${texts}) from ${sourceAlias})`;
  return `case when ${affected} operator(pg_catalog.=) 1 then ${row} end`;
}

const tokenSource: ValueSource = { name: 'rows', key: 'rows', type: { sql: 'pg_catalog.text', display: 'text' } };

const guarded: Readonly<Record<ResultGuard['kind'], { readonly value: string; readonly operator: string }>> = {
  single: { value: affected, operator: '<>' },
  maximum: { value: affected, operator: '>' },
  size: { value: `pg_catalog.octet_length(${returnedBody})`, operator: '>' },
  rows: { value: '"item"."size"', operator: '>' },
  all: { value: 'pg_catalog.count(*)', operator: '<>' },
};

/**
 * Returns a further column. A text that is not a number fails with the text in its message, which a client can be told.
 * @param value the limited number in SQL
 */
export function guardSql({ kind, limit, token }: ResultGuard, value: string = guarded[kind].value): SqlText {
  const { operator } = guarded[kind];
  return text(`, case when ${value} operator(pg_catalog.${operator}) `)
    .bind(String(limit), 'pg_catalog.int8', tokenSource)
    .add(' then pg_catalog.concat(')
    .bind(token, 'pg_catalog.text', tokenSource)
    .add(`, ':', ${value})::pg_catalog.int4 end`);
}

/** Returns a condition that is true, or fails as `guardSql`. */
export function guardCondition({ kind, limit, token }: ResultGuard, value: string): SqlText {
  return text(`case when ${value} operator(pg_catalog.${guarded[kind].operator}) `)
    .bind(String(limit), 'pg_catalog.int8', tokenSource)
    .add(' then pg_catalog.concat(')
    .bind(token, 'pg_catalog.text', tokenSource)
    .add(`, ':', ${value})::pg_catalog.int4 is null else true end`);
}

/** Reads the row of `resultStatement`. */
export function readWriteResult([rows, merged, location = null, body = null]: readonly (string | null)[]): WriteResult {
  return {
    affected: Number(rows),
    merged: Number(merged ?? 0),
    location: location === null ? null : (JSON.parse(location) as readonly (string | null)[]),
    body,
  };
}

/** Returns the problem of the guard that has failed, or of related rows that are too large; null for another error. */
export function guardProblem(error: unknown, guards: readonly ResultGuard[]): Error | null {
  if (!isDatabaseError(error) || error.diagnostics.code !== '22P02') return null;
  const size = listSize(error.diagnostics.message);
  if (size !== null) return tooLargeList(size);
  for (const { kind, token } of guards) {
    const value = guardedValue(error, token);
    if (value !== null) return guardProblems[kind](value);
  }
  return null;
}

function guardedValue({ diagnostics: { message } }: DatabaseError, token: string): string | null {
  const start = message.indexOf(`${token}:`);
  return start === -1 ? null : (/^\d+/.exec(message.slice(start + token.length + 1))?.[0] ?? null);
}

export function notSingular(rows: string): Error {
  return postgrestProblem(406, 'PGRST116', 'Cannot coerce the result to a single JSON object', {
    details: `The result contains ${rows} rows`,
  });
}

/** Bytes. A response is held as a whole. */
export const maxResponseSize: number = maxBodyBytes;

function tooLargeResponse(size: string): Error {
  return tooLarge(`It has ${size} bytes; the limit is ${maxResponseSize}`);
}

function tooLargeList(size: string): Error {
  return tooLarge(`The related rows of one row have ${size} bytes; the limit is ${maxResponseSize}`);
}

/** Returns the problem of a response whose rest is not read. */
export function responseAboveLimit(): Error {
  return tooLarge(`It has more than ${maxResponseSize} bytes`);
}

function tooLarge(details: string): Error {
  return postgrestProblem(400, '54000', 'The response is too large', {
    details,
    hint: 'Request fewer rows with "limit", or fewer columns and related rows with "select"',
  });
}

function tooManyRows(rows: string): Error {
  return postgrestProblem(400, 'PGRST124', 'Query result exceeds max-affected preference constraint', {
    details: `The query affects ${rows} rows`,
  });
}

function rowsLeftOut(rows: string): Error {
  return postgrestProblem(400, '23000', 'Rows were not inserted, so that their related rows have no outer row', {
    details: `The database has inserted ${rows} of the rows`,
    hint: 'A trigger or a rule leaves rows out: send them without related rows',
  });
}

const guardProblems: Readonly<Record<ResultGuard['kind'], (value: string) => Error>> = {
  single: notSingular,
  maximum: tooManyRows,
  size: tooLargeResponse,
  rows: responseAboveLimit,
  all: rowsLeftOut,
};
