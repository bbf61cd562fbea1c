import type { GatewayResponse, Query, QueryStatement, TableColumn } from '@pgway/core';
import {
  earlierIndex,
  quoteIdentifier,
  type Read,
  type ReadQuery,
  rowAlias,
  sql,
  type SqlText,
  text,
  writeColumns,
  writeOrder,
} from '@pgway/core/internal';
import { isDatabaseError, ofRequest } from './database-error.ts';
import { valuesAs } from './media.ts';
import { raisedProblem } from './raised-problem.ts';
import { readModelOf } from './read-models.ts';
import { csvBody, writtenRowSql } from './read/select-sql.ts';
import { handlerBody } from './read/media-handlers.ts';
import { returnedColumns } from './returned-columns.ts';
import { relationSql, type TargetRequest } from './target.ts';
import { beginTransaction, rollsBack } from './transaction.ts';
import { withNames } from './write-response.ts';
import {
  guardProblem,
  maxResponseSize,
  readWriteResult,
  type ResultGuard,
  resultStatement,
  sourceAlias,
  type WriteResult,
} from './write-result.ts';

export interface WriteParts {
  readonly query: ReadQuery;
  /** INSERT, UPDATE or DELETE without RETURNING; or a function that returns a SELECT of the returned columns, where none of them is to run. */
  readonly statement: SqlText | ((returned: readonly TableColumn[]) => SqlText);
  /** The columns of `Location`; empty: none. */
  readonly location: readonly TableColumn[];
  /** The most rows that the write may affect; null: any number. */
  readonly maxAffected: number | null;
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Statements before it. Absent: none. */
  readonly earlier?: EarlierStatements;
  /** @throws Problem */
  readonly respond: (result: WriteResult) => GatewayResponse;
}

export interface EarlierStatements {
  readonly statements: readonly SqlText[];
  readonly guards: readonly ResultGuard[];
  /** Returns the error of one of the statements with the JSON Pointer of the rows that it writes. */
  readonly locate: (error: unknown, index: number) => unknown;
}

/** Returns the query of a write, in one statement with the rows that it returns. */
export function finishWrite(request: TargetRequest, parts: WriteParts): Query {
  const { target, preferences } = request;
  const { statement, location, settings, respond, earlier } = parts;
  const returnsRows = preferences.return === 'representation';
  const read: Read = {
    model: readModelOf(target),
    relation: target,
    query: parts.query,
    limits: target.options,
    valuesAs: valuesAs(request.media),
  };
  const returned = new Set([...location, ...(returnsRows ? returnedColumns(read) : [])]);
  const guards = selectGuards(request, parts.maxAffected);
  const written = returnsRows ? bodySql(request, read) : null;
  const whole = resultStatement({
    statement: typeof statement === 'function' ? statement([...returned]) : statement,
    isSelect: typeof statement === 'function',
    returned: [...returned],
    body: written?.sql ?? null,
    location,
    guards,
  });
  const { operation } = target.endpoint.table!;
  const begun = beginTransaction(request, settings);
  const before = begun.earlier ?? [];
  const finishEarlier = (each: SqlText, index: number): QueryStatement => each.finish(`${operation} ${index}`);
  const toOwnError = (error: unknown): unknown =>
    guardProblem(error, [...guards, ...(earlier?.guards ?? [])]) ?? raisedProblem(error) ?? ofRequest(error);
  return {
    ...whole.finish(operation),
    ...begun,
    ...(earlier === undefined ? {} : { earlier: [...before, ...earlier.statements.map(finishEarlier)] }),
    rowResponse: {
      rollsBack: rollsBack(request),
      respond: (row) => {
        const result = readWriteResult(row);
        const { body } = result;
        return respond(body === null ? result : { ...result, body: withNames(request, written!.names, body) });
      },
      toError: (error) => {
        const index = (failedEarlier(error) ?? -1) - before.length;
        return earlier === undefined || index < 0 ? toOwnError(error) : earlier.locate(toOwnError(error), index);
      },
    },
  };
}

function failedEarlier(error: unknown): number | null {
  return isDatabaseError(error) ? earlierIndex(error.label) : null;
}

function selectGuards({ media, preferences }: TargetRequest, maxAffected: number | null): readonly ResultGuard[] {
  const token = (): string => crypto.randomUUID();
  const guards: ResultGuard[] = [];
  if (media.shape === 'object') guards.push({ kind: 'single', limit: 1, token: token() });
  else if (maxAffected !== null) guards.push({ kind: 'maximum', limit: maxAffected, token: token() });
  if (preferences.return === 'representation') guards.push({ kind: 'size', limit: maxResponseSize, token: token() });
  return guards;
}

/** Returns a statement in place of an UPDATE that sets nothing. */
export function noRows({ target }: TargetRequest, columns: readonly TableColumn[]): SqlText {
  const list = columns.map(({ name }) => `${rowAlias}.${quoteIdentifier(name)}`).join(', ');
  return text(`select ${list === '' ? '1' : list} from ${relationSql(target)} as ${rowAlias} where false`);
}

/** Returns the expression of the returned rows as text of JSON or CSV, and the names of their columns. */
function bodySql({ media }: TargetRequest, read: Read): { readonly sql: SqlText; readonly names: readonly string[] } {
  const { columns, names, from, group, order } = writtenRowSql(read, sourceAlias);
  const rows = text('select ');
  writeColumns(rows, columns);
  rows.add(' from ').append(from).append(group);
  writeOrder(rows, order);
  if (media.handler !== null)
    return { sql: sql`(select ${text(handlerBody(media.handler, names))} from (${rows}) "page")`, names };
  if (media.shape === 'csv') return { sql: sql`(select ${text(csvBody)} from (${rows}) "page")`, names };
  // A row without columns cannot be named as a whole.
  const row = columns.length === 0 ? "'{}'::pg_catalog.json" : '"page".*';
  const json =
    media.shape === 'object'
      ? sql`(select pg_catalog.to_json(${text(row)}) from (${rows}) "page" limit 1)`
      : sql`(select coalesce(pg_catalog.json_agg(${text(row)}), '[]') from (${rows}) "page")`;
  const result = media.stripsNulls ? sql`pg_catalog.json_strip_nulls(${json})` : json;
  return { sql: sql`${result}::pg_catalog.text`, names };
}
