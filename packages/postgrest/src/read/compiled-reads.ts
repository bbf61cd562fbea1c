/** Statements of reads that are compiled once for all requests whose query strings have the same shape. */
import type { QueryStatement } from '@pgway/core';
import { type BoundValue, readShape, resolveValues, ShapeCache, text, type TextValue } from '@pgway/core/internal';
import { type LocationForm, locationForm } from '../content-location.ts';
import { readModelOf } from '../read-models.ts';
import { parseRequestQuery } from '../request-query.ts';
import type { TargetRequest } from '../target.ts';
import { outerLevel, rowFormatOf, rowsSql, toRead } from './rows-sql.ts';

/** A statement of rows, and what the response needs of it. */
export interface RowsStatement {
  readonly statement: QueryStatement;
  readonly names: readonly string[];
  readonly offset: number;
  /** Whether the rows are those of a function. */
  readonly isCall: boolean;
  readonly location?: LocationForm;
}

interface CompiledRead extends Pick<RowsStatement, 'names'> {
  readonly statement: Pick<QueryStatement, 'valueSources'> & { readonly sql: string; readonly statementKey: string };
  readonly values: readonly BoundValue[];
  /** The index of the number of rows to leave out; null: none. */
  readonly offsetIndex: number | null;
  readonly location: LocationForm;
}

const compiledReads = new ShapeCache<CompiledRead>();

/**
 * Returns the statement of a read of rows one by one; null for a request without a shape. Besides the table and the shape, the text depends on
 * the form of rows, and on whether rows are counted.
 * @throws ReadFault; Problem `malformed-query`
 */
export function findCompiledRead(request: TargetRequest): RowsStatement | null {
  const { target, range, media, preferences } = request;
  const { count } = preferences;
  const isCompiled = range === undefined && media.shape !== 'raw' && (count === null || count === 'exact');
  if (!isCompiled) return null;
  const shape = readShape(request.parameters(), target.options.maxRows);
  if (shape === null) return null;
  const owner = { relation: target, model: readModelOf(target), form: `${rowFormatOf(media)} ${count}` };
  const compiled = compiledReads.find(owner, shape, (texts) => {
    const read = compile(request, texts);
    return { compiled: read, size: read.statement.sql.length + read.statement.statementKey.length };
  });
  return compiled === null ? null : toStatement(compiled, shape.texts);
}

function compile(request: TargetRequest, texts: TextValue[]): CompiledRead {
  const query = parseRequestQuery(request, undefined, texts);
  const { sql: statement, names } = rowsSql(request, toRead(request, query), text(''));
  const { sql, statementKey, valueSources } = statement.finish('rows', texts);
  const { offset, offsetIndex } = outerLevel(query);
  return {
    statement: { sql: sql(), statementKey, valueSources },
    values: statement.values,
    names,
    offsetIndex: offset === 0 ? null : offsetIndex!,
    location: locationForm(request.target, request.parameters()),
  };
}

function toStatement(
  { statement, values, names, offsetIndex, location }: CompiledRead,
  texts: readonly TextValue[],
): RowsStatement {
  const { sql, statementKey, valueSources } = statement;
  return {
    // Property by property, as in all that every read passes: a spread costs several times as much.
    statement: { sql, statementKey, values: resolveValues(values, texts), valueSources },
    names,
    offset: offsetIndex === null ? 0 : Number(texts[offsetIndex]),
    isCall: false,
    location,
  };
}
