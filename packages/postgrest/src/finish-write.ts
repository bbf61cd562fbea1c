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
import { writtenRowSql } from './read/select-sql.ts';
import { returnedColumns } from './returned-columns.ts';
import { relationSql, type TargetRequest } from './target.ts';
import { beginTransaction, rollsBack } from './transaction.ts';
import { type WholeBody, wholeBody } from './whole-body.ts';
import {
  guardProblem,
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
  const written = returnsRows ? returnedBody(request, read) : null;
  const whole = resultStatement({
    statement: typeof statement === 'function' ? statement([...returned]) : statement,
    isSelect: typeof statement === 'function',
    returned: [...returned],
    body: written === null ? null : sql`(select "rows"."body" from (${written.query}) "rows")`,
    location,
    guards,
  });
  const { operation } = target.endpoint.table!;
  const begun = beginTransaction(request, settings);
  const before = begun.earlier ?? [];
  const finishEarlier = (each: SqlText, index: number): QueryStatement => each.finish(`${operation} ${index}`);
  const toOwnError = (error: unknown): unknown =>
    guardProblem(error, [...guards, ...(written === null ? [] : [written.guard]), ...(earlier?.guards ?? [])]) ??
    raisedProblem(error) ??
    ofRequest(error);
  return {
    ...whole.finish(operation),
    ...begun,
    ...(earlier === undefined ? {} : { earlier: [...before, ...earlier.statements.map(finishEarlier)] }),
    rowResponse: {
      rollsBack: rollsBack(request),
      respond: (row) => {
        const result = readWriteResult(row);
        const { body } = result;
        return respond(body === null ? result : { ...result, body: `${written!.open}${body}${written!.close}` });
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

function selectGuards({ media }: TargetRequest, maxAffected: number | null): readonly ResultGuard[] {
  const token = crypto.randomUUID();
  if (media.shape === 'object') return [{ kind: 'single', limit: 1, token }];
  return maxAffected === null ? [] : [{ kind: 'maximum', limit: maxAffected, token }];
}

/** Returns a statement in place of an UPDATE that sets nothing. */
export function noRows({ target }: TargetRequest, columns: readonly TableColumn[]): SqlText {
  const list = columns.map(({ name }) => `${rowAlias}.${quoteIdentifier(name)}`).join(', ');
  return text(`select ${list === '' ? '1' : list} from ${relationSql(target)} as ${rowAlias} where false`);
}

/** Returns the returned rows as one value. */
function returnedBody({ media }: TargetRequest, read: Read): WholeBody {
  const { columns, names, from, group, order } = writtenRowSql(read, sourceAlias);
  const rows = text('select ');
  writeColumns(rows, columns);
  rows.add(' from ').append(from).append(group);
  writeOrder(rows, order);
  return wholeBody(media, { names, rows: media.shape === 'object' ? rows.add(' limit 1') : rows });
}
