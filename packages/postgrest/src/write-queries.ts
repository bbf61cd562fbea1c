import type { HeaderList, Problem, Query, TableColumn } from '@pgway/core';
import {
  type Aliased,
  computedOf,
  conditionsOf,
  emptyLevel,
  type Level,
  type Order,
  orderedField,
  type OrderTerm,
  type ReadQuery,
  rowAlias,
  rowCount,
} from '@pgway/core/internal';
import { parseRequestQuery } from './request-query.ts';
import { preferenceApplied } from './preferences.ts';
import { postgrestProblem } from './postgrest-problem.ts';
import { readModelOf } from './read-models.ts';
import { finishWrite, noRows, type WriteParts } from './finish-write.ts';
import { buildNestedInsert } from './nested-insert.ts';
import { isRelatedKey, listedColumns } from './nested-rows.ts';
import { affectedRowsRange, insertedRows, representation, totalRange, withoutContent } from './write-response.ts';
import {
  insertColumns,
  jsonParameter,
  keyConditions,
  readGivenRows,
  requireFilter,
  selectConflict,
  updateColumns,
} from './write-parts.ts';
import type { Target, TargetRequest } from './target.ts';
import type { WriteResult } from './write-result.ts';
import {
  type AffectedRange,
  type ChangeParts,
  deleteStatement,
  insertStatement,
  mergeSettings,
  updateStatement,
} from './write-statements.ts';

/** POST: inserts all rows of the body, with their related rows. */
export async function buildInsert(request: TargetRequest): Promise<Query> {
  const { target, preferences } = request;
  const given = await readGivenRows(request, (key) => isRelatedKey(target, key));
  if (given.rows.hasRelated) return buildNestedInsert(request, given.listed);
  const query = parseRequestQuery(request);
  const conflict = selectConflict(request);
  const statement = insertStatement(target, {
    body: jsonParameter(given.rows.json),
    columns: insertColumns(request, { rows: given.rows, listed: listedColumns(target, given.listed, given.rows) }),
    conflict,
    conditions: [],
  });
  const location = preferences.return === 'headers-only' ? target.key : [];
  return finishWrite(request, {
    query,
    statement,
    location,
    maxAffected: null,
    settings: conflict?.action === 'merge' ? mergeSettings : [],
    respond: (result) => insertedRows(request, conflict, result),
  });
}

/** PUT: inserts or replaces the row that the URL names. */
export async function buildPut(request: TargetRequest): Promise<Query> {
  const { target, preferences } = request;
  const query = parseRequestQuery(request);
  const conditions = keyConditions(target, outerLevel(query));
  const given = await readGivenRows(request);
  if (given.rows.count === 0) throw otherKey();
  const statement = insertStatement(target, {
    body: jsonParameter(given.rows.json),
    columns: insertColumns(request, given),
    conflict: { action: 'merge', columns: target.key },
    conditions,
  });
  return finishWrite(request, {
    // The row is that of the URL; its related rows may be ordered and filtered.
    query: { ...query, levels: new Map([...query.levels].filter(([path]) => path !== '')) },
    statement,
    location: [],
    maxAffected: null,
    settings: mergeSettings,
    respond: (result) => {
      if (result.affected !== 1) throw otherKey();
      const headers = preferenceApplied(preferences, ['return', 'count', 'tx', 'handling']);
      if (result.body === null) return withoutContent(headers);
      return representation(request, result.merged === 0 ? 201 : 200, result.body, headers);
    },
  });
}

function otherKey(): Problem {
  return postgrestProblem(400, 'PGRST115', 'Payload values do not match URL in primary key column(s)');
}

/** PATCH: sets columns of the rows that meet the filters. */
export async function buildUpdate(request: TargetRequest): Promise<Query> {
  const { target } = request;
  const given = await readGivenRows(request);
  const query = parseRequestQuery(request);
  const { columns, defaults } = updateColumns(request, given);
  const isEmpty = columns.length === 0 && defaults.length === 0;
  // What sets nothing changes no row, with a filter or without.
  const parts = isEmpty ? noChange : changeParts(request, query, 'UPDATE');
  const body = jsonParameter(given.rows.json);
  const statement = isEmpty
    ? (returned: readonly TableColumn[]) => noRows(request, returned)
    : updateStatement(target, { body, columns, defaults, ...parts });
  return finishChange(request, query, { statement, applied: ['missing'], range: affectedRowsRange });
}

/** DELETE: deletes the rows that meet the filters. */
export function buildDelete(request: TargetRequest): Query {
  const query = parseRequestQuery(request);
  const statement = deleteStatement(request.target, changeParts(request, query, 'DELETE'));
  return finishChange(request, query, { statement, applied: [], range: totalRange });
}

interface Change {
  readonly statement: WriteParts['statement'];
  /** Further preferences that have an effect. */
  readonly applied: readonly 'missing'[];
  readonly range: (request: TargetRequest, result: WriteResult) => HeaderList;
}

function finishChange(request: TargetRequest, query: ReadQuery, { statement, applied, range }: Change): Query {
  const { preferences } = request;
  return finishWrite(request, {
    query,
    statement,
    location: [],
    maxAffected: preferences.handling === 'strict' ? preferences.maxAffected : null,
    settings: [],
    respond: (result) => {
      const names = [...applied, 'return', 'count', 'tx', 'handling', 'maxAffected'] as const;
      const headers = [...range(request, result), ...preferenceApplied(preferences, names)];
      return result.body === null ? withoutContent(headers) : representation(request, 200, result.body, headers);
    },
  });
}

const noChange: ChangeParts = { conditions: [], range: null };

function changeParts({ target }: TargetRequest, query: ReadQuery, statement: 'UPDATE' | 'DELETE'): ChangeParts {
  const level = outerLevel(query);
  requireFilter(target, statement, level.filters.length > 0);
  const conditions = conditionsOf(writtenRow(target), level.filters);
  return { conditions, range: affectedRange(target, level) };
}

/**
 * Returns the range of a write with a limit; null without one.
 * @throws Problem PGRST109 for a limit without an order, or without a primary key
 */
function affectedRange(target: Target, level: Level): AffectedRange | null {
  const { key } = target;
  const { limit, offset, order } = level;
  if (limit === null && offset === 0) return null;
  if (order.length === 0 || key.length === 0) {
    throw postgrestProblem(400, 'PGRST109', "A 'limit' was applied without an explicit 'order'", {
      hint: key.length === 0 ? 'The table needs a primary key' : "Apply an 'order' using unique column(s)",
    });
  }
  return {
    key,
    order: order.map((term) => ownOrder(target, term)),
    page: { limit: limit === null ? null : rowCount(limit), offset: rowCount(offset) },
  };
}

/** @throws Problem PGRST118 for a column of a related row */
function ownOrder(target: Target, { relation, field, descending, nulls }: OrderTerm): Order {
  if (relation !== null) {
    throw postgrestProblem(400, 'PGRST118', `A related order on '${relation}' is not possible`, {
      details: 'A write with a limit is ordered by columns of its own table',
    });
  }
  const operand = orderedField(writtenRow(target), field, 'order');
  return { operand, descending, nullsFirst: nulls === null ? descending : nulls === 'first' };
}

function writtenRow(target: Target): Aliased {
  return { relation: target, alias: rowAlias, computed: computedOf(readModelOf(target), target) };
}

function outerLevel({ levels }: ReadQuery): Level {
  return levels.get('') ?? emptyLevel;
}
