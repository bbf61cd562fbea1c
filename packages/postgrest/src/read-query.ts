import type { GatewayResponse, HeaderList, JoinedBody, Query, RowResponse } from '@pgway/core';
import { type Read, type ReadQuery, sql, type SqlText, text } from '@pgway/core/internal';
import { parseRequestQuery } from './request-query.ts';
import { contentLocation } from './content-location.ts';
import { ofRequest } from './database-error.ts';
import { preferenceApplied } from './preferences.ts';
import { rangeProblem } from './postgrest-problem.ts';
import { raisedProblem } from './raised-problem.ts';
import { findCompiledRead, type RowsStatement } from './read/compiled-reads.ts';
import { outerLevel, rowsSql, toRead, totalSql } from './read/rows-sql.ts';
import { countedRowsSql, pageRows } from './read/select-sql.ts';
import { joinsOf } from './row-joins.ts';
import type { TargetRequest } from './target.ts';
import { beginTransaction, rollsBack } from './transaction.ts';
import { wholeBody } from './whole-body.ts';
import { representation } from './write-response.ts';
import { guardProblem, guardSql, notSingular, type ResultGuard } from './write-result.ts';

/** GET and HEAD: reads the rows that meet the filters. */
export function buildRead(request: TargetRequest): Query {
  const compiled = findCompiledRead(request);
  if (compiled !== null) return rowsQuery(request, compiled, ofRequest);
  const query = withRange(parseRequestQuery(request), request.range);
  return finishRead(request, {
    read: toRead(request, query),
    prefix: text(''),
    mayWrite: false,
    guards: [],
    toError: ofRequest,
  });
}

export interface ReadParts {
  readonly read: Read;
  /** The CTE before the statement; empty for none. */
  readonly prefix: SqlText;
  /** Whether the statement may change data: then it fails beyond the limit of a response. */
  readonly mayWrite: boolean;
  /** Further limits that fail the statement; with the limited numbers in SQL. */
  readonly guards: readonly { readonly guard: ResultGuard; readonly value: string }[];
  /** Returns the error to respond with. */
  readonly toError: (error: unknown) => unknown;
}

/**
 * Returns the query of a read, and the response with its rows. PostgreSQL sends the rows one by one, so that it never has the whole response.
 * An aggregate that makes the body takes all rows, and a statement that writes must fail beyond a limit: both need one value of all rows.
 */
export function finishRead(request: TargetRequest, parts: ReadParts): Query {
  const isWhole = parts.mayWrite || parts.guards.length > 0 || request.media.shape === 'raw';
  return isWhole ? wholeRead(request, parts) : joinedRead(request, parts);
}

function joinedRead(request: TargetRequest, { read, prefix, toError }: ReadParts): Query {
  const { sql: statement, names } = rowsSql(request, read, prefix);
  const { offset } = outerLevel(read.query);
  const rows = { statement: statement.finish('rows'), names, offset, isCall: read.source !== undefined };
  return { ...rowsQuery(request, rows, toError), ...explainedRows(request, read, prefix) };
}

/** Returns the query of rows that PostgreSQL sends one by one. */
function rowsQuery(
  request: TargetRequest,
  { statement, names, offset, isCall, location }: RowsStatement,
  toError: ReadParts['toError'],
): Query {
  const { media, target } = request;
  const rowResponse: RowResponse = {
    rollsBack: rollsBack(request),
    joins: joinsOf(media, names),
    respond: ([all = null], [plan = null], _rows, joined) => {
      const { bytes: body, memory, rows } = joined!;
      const counted = all === null ? null : Number(all);
      const { total, isExact } = selectTotal({ rows, offset }, counted, plan, target.options.maxRows);
      const result = { body, memory, rows, offset, total, isExact };
      return respond(request, result, isCall ? [] : contentLocation(request, location), isCall);
    },
    toError: (error) => guardProblem(error, []) ?? raisedProblem(error) ?? toError(error),
  };
  const { settings, earlier } = beginTransaction(request);
  const { sql, statementKey, values, valueSources } = statement;
  const query = { sql, statementKey: statementKey!, values, valueSources, settings: settings!, rowResponse };
  return earlier === undefined ? query : { ...query, earlier };
}

/** The row of the result has the whole body, and the numbers of rows. */
function wholeRead(request: TargetRequest, parts: ReadParts): Query {
  const { read, prefix, toError } = parts;
  const { query, open, close, guard: size } = wholeBody(request.media, pageRows(read));
  const statement = sql`${prefix}select "result"."body", "result"."count", `;
  statement.append(totalSql(request, read) ?? text('null'));
  for (const { guard, value } of parts.guards) statement.append(guardSql(guard, value));
  statement.append(sql` from (${query}) "result"`);
  const { offset } = outerLevel(read.query);
  return {
    ...statement.finish('select'),
    ...beginTransaction(request),
    ...explainedRows(request, read, prefix),
    rowResponse: {
      rollsBack: rollsBack(request),
      respond: ([body, count, all = null], [estimate = null]) => {
        const page = { rows: Number(count), offset };
        const total = selectTotal(page, all === null ? null : Number(all), estimate, read.limits.maxRows);
        const result = { body: `${open}${body ?? ''}${close}`, ...page, ...total };
        const isCall = read.source !== undefined;
        return respond(request, result, isCall ? [] : contentLocation(request), isCall);
      },
      toError: (error) =>
        guardProblem(error, [size, ...parts.guards.map(({ guard }) => guard)]) ??
        raisedProblem(error) ??
        toError(error),
    },
  };
}

/** The planner's estimate of all rows, in the round trip of the statement, if the request asks for it. */
function explainedRows(
  { preferences: { count } }: TargetRequest,
  read: Read,
  prefix: SqlText,
): Pick<Query, 'headerQuery'> {
  if (count !== 'planned' && count !== 'estimated') return {};
  const statement = sql`explain (format json) ${prefix}${countedRowsSql(read)}`;
  return { headerQuery: { ...statement.finish('explain'), names: ['plan'] } };
}

/**
 * Returns the number of all rows.
 * @param counted null: not counted
 * @param plan the plan of the rows as JSON; null: the count is exact
 * @param maxRows the number up to which `estimated` counts exactly
 */
function selectTotal(
  { rows, offset }: Pick<ReadResult, 'rows' | 'offset'>,
  counted: number | null,
  plan: string | null,
  maxRows: number,
): Pick<ReadResult, 'total' | 'isExact'> {
  if (plan === null || (counted !== null && counted <= maxRows)) return { total: counted, isExact: true };
  const [{ Plan }] = JSON.parse(plan) as [{ readonly Plan: { readonly 'Plan Rows': number } }];
  return { total: Math.max(Plan['Plan Rows'], counted ?? 0, rows === 0 ? 0 : offset + rows), isExact: false };
}

/**
 * Applies the header `Range`: the rows that both it and the page of the query string have.
 * @throws Problem PGRST103 for a range that ends before its start
 */
export function withRange(query: ReadQuery, range: string | undefined): ReadQuery {
  const [, first, last] = /^(?:items=)?(\d{1,15})-(\d{1,15})?$/.exec(range?.trim() ?? '') ?? [];
  if (first === undefined) return query;
  const rangeEnd = last === undefined ? Infinity : Number(last) + 1;
  if (rangeEnd <= Number(first)) {
    throw rangeProblem('The lower boundary must be lower than or equal to the upper boundary in the Range header.');
  }
  const level = outerLevel(query);
  const offset = Math.max(level.offset, Number(first));
  const end = Math.min(rangeEnd, level.limit === null ? Infinity : level.offset + level.limit);
  const limit = end === Infinity ? null : Math.max(0, end - offset);
  return { ...query, levels: new Map([...query.levels, ['', { ...level, offset, limit }]]) };
}

/** A page of rows. */
export interface ReadResult {
  readonly body: string | Uint8Array;
  /** As in `WholeResponse`. */
  readonly memory?: JoinedBody['memory'];
  readonly rows: number;
  /** Null: not counted. */
  readonly total: number | null;
  readonly isExact: boolean;
  readonly offset: number;
}

function respond(request: TargetRequest, result: ReadResult, location: HeaderList, isCall: boolean): GatewayResponse {
  const { rows } = result;
  if (request.media.shape === 'object' && rows !== 1) throw notSingular(String(rows));
  const headers = location.concat(
    contentRange(result),
    preferenceApplied(request.preferences, isCall ? callPreferences : readPreferences),
  );
  const isNull = request.media.shape === 'row' && rows === 0;
  const { body, memory = null } = isNull ? { body: 'null' } : result;
  const response = representation(request, rangeStatus(result), body, headers);
  return memory === null ? response : { ...response, memory };
}

/**
 * Returns the status of a page: 206 for a part of the rows.
 * @throws Problem PGRST103 for a page after the last row
 */
export function rangeStatus({ rows, total, isExact, offset }: Omit<ReadResult, 'body'>): number {
  if (total !== null && isExact && offset > total) {
    throw rangeProblem(`An offset of ${offset} was requested, but there are only ${total} rows.`, [
      'content-range',
      `*/${total}`,
    ]);
  }
  return total !== null && rows < total ? 206 : 200;
}

const readPreferences = ['count', 'tx', 'handling'] as const;
const callPreferences = ['count', 'tx', 'handling', 'maxAffected'] as const;

export function contentRange({ rows, total, offset }: Omit<ReadResult, 'body'>): HeaderList {
  const range = rows === 0 ? '*' : `${offset}-${offset + rows - 1}`;
  return ['content-range', `${range}/${total ?? '*'}`];
}
