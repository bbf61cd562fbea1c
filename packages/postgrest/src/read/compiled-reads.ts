/** Statements of reads that are compiled once for all requests whose query strings have the same shape. */
import type { QueryStatement } from '@pgway/core';
import {
  BoundedCache,
  type BoundValue,
  type QueryShape,
  type ReadModel,
  readShape,
  resolveValues,
  text,
  type TextValue,
} from '@pgway/core/internal';
import { type LocationForm, locationForm } from '../content-location.ts';
import { readModelOf } from '../read-models.ts';
import { parseRequestQuery } from '../request-query.ts';
import type { Target, TargetRequest } from '../target.ts';
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

/** All tables that a model has: their number, and the characters of keys and statements. */
const limits = { entries: 1_000, size: 1024 * 1024 };

/** By the model that the statements were compiled with: new endpoints have a new one. */
const compiledReads = new WeakMap<ReadModel, BoundedCache<CompiledRead>>();

/**
 * Returns the statement of a read of rows one by one; null for a request without a shape. The text depends on the table, the tables that its
 * model has, the form of rows, whether rows are counted, and the shape. Settings and role are those of each request.
 * @throws ReadFault; Problem `malformed-query`
 */
export function findCompiledRead(request: TargetRequest): RowsStatement | null {
  const { target, range, media, preferences } = request;
  const { count } = preferences;
  const isCompiled = range === undefined && media.shape !== 'raw' && (count === null || count === 'exact');
  if (!isCompiled) return null;
  const shape = readShape(request.parameters(), target.options.maxRows);
  if (shape === null) return null;
  const reads = readsOf(readModelOf(target));
  const key = `${numberOf(target)} ${rowFormatOf(media)} ${count} ${shape.key}`;
  const known = reads.get(key);
  if (known !== undefined) return toStatement(known, shape.texts);
  const compiled = compile(request, shape);
  if (compiled === null) return null;
  const { sql, statementKey } = compiled.statement;
  reads.add(key, compiled, key.length + sql.length + statementKey.length);
  return toStatement(compiled, shape.texts);
}

function readsOf(model: ReadModel): BoundedCache<CompiledRead> {
  const known = compiledReads.get(model);
  if (known !== undefined) return known;
  const reads = new BoundedCache<CompiledRead>(limits);
  compiledReads.set(model, reads);
  return reads;
}

/** Numbers of the tables, which have a name in several schemas and paths. */
const numbers = new WeakMap<Target, number>();
let targetCount = 0;

function numberOf(target: Target): number {
  const known = numbers.get(target);
  if (known !== undefined) return known;
  numbers.set(target, ++targetCount);
  return targetCount;
}

/** @returns null unless the parser has found the values of the shape */
function compile(request: TargetRequest, shape: QueryShape): CompiledRead | null {
  const texts: TextValue[] = [];
  const query = parseRequestQuery(request, undefined, texts);
  const { sql: statement, names } = rowsSql(request, toRead(request, query), text(''));
  if (JSON.stringify(texts) !== JSON.stringify(shape.texts)) return null;
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
  return {
    statement: { ...statement, values: resolveValues(values, texts) },
    names,
    offset: offsetIndex === null ? 0 : Number(texts[offsetIndex]),
    isCall: false,
    location,
  };
}
