import { Problem, type Query, type TableColumn, type ValueSource } from '@pgway/core';
import { arrayLiteral, LocatedError, SqlText } from '@pgway/core/internal';
import { parseRequestQuery } from './request-query.ts';
import { isDatabaseError } from './database-error.ts';
import { finishWrite } from './finish-write.ts';
import { failedPointer } from './nested-error.ts';
import { type NestedLevel, readNestedRows } from './nested-rows.ts';
import { invalidBody, locatedProblem } from './postgrest-problem.ts';
import type { TargetRequest } from './target.ts';
import { type GivenRows, insertColumns, jsonParameter, mayDiffer, selectConflict } from './write-parts.ts';
import { insertedRows } from './write-response.ts';
import { guardSql, type ResultGuard } from './write-result.ts';
import {
  type ConflictAction,
  keepingStatement,
  keptRows,
  mergeSettings,
  nestedInsertStatement,
  type OuterRows,
} from './write-statements.ts';

/** A level with what its statement does. */
interface PlannedLevel {
  readonly level: NestedLevel;
  readonly index: number;
  readonly conflict: ConflictAction | null;
  /** The columns that later statements need. */
  readonly kept: readonly TableColumn[];
}

/**
 * POST with related rows: a statement for each level, in one transaction and round trip. Each sees the rows of those before it, as
 * separate requests would: policies and triggers of related rows can read the outer ones. A last statement reads the returned rows.
 * @param listed the only keys of the outermost rows that count; null: all
 */
export function buildNestedInsert(request: TargetRequest, listed: GivenRows['listed']): Query {
  const { target, preferences, body } = request;
  const levels = readNestedRows(target, body ?? '', { keysMayDiffer: mayDiffer(preferences), listed });
  const location = preferences.return === 'headers-only' ? target.key : [];
  const isRead = location.length > 0 || preferences.return === 'representation';
  const key = readKey(levels[0]!);
  const planned = levels.map((level, index) =>
    planLevel(request, level, { index, readBy: isRead && index === 0 ? key : [] }),
  );
  const written = planned.filter(({ level }) => level.count > 0);
  const guards = written.map((): ResultGuard[] => []);
  const statements = written.map((each, index) => levelStatement(request, each, { levels, guards: guards[index]! }));
  const conflicts = new Set(levels.map(({ path }) => conflictParameter(path)));
  const query = parseRequestQuery(request, (name) => conflicts.has(name));
  const { conflict } = planned[0]!;
  return finishWrite(request, {
    query,
    statement: (columns) => keptRows(target, settingName(0), { key: isRead ? key : [], columns }),
    location,
    maxAffected: null,
    settings: conflict?.action === 'merge' ? mergeSettings : [],
    earlier: {
      statements,
      guards: guards.flat(),
      locate: (error, index) => locate(error, written[index]!.level),
    },
    respond: (result) => insertedRows(request, conflict, result),
  });
}

/** Returns columns that identify an outermost row: the primary key, or those that related rows reference. */
function readKey({ target, referenced }: NestedLevel): readonly TableColumn[] {
  return target.key.length > 0 ? target.key : [...referenced].map((name) => target.columns.get(name)!);
}

/** @throws Problem PGRST102 for rows that may be left out although they have related rows; as `selectConflict` */
function planLevel(
  { preferences, parameters }: TargetRequest,
  level: NestedLevel,
  { index, readBy }: { readonly index: number; readonly readBy: readonly TableColumn[] },
): PlannedLevel {
  const { target, path, pointer, referenced } = level;
  const conflict = selectConflict({ target, preferences, parameters }, conflictParameter(path));
  if (conflict?.action === 'ignore' && referenced.size > 0) {
    const problem = invalidBody(
      `Rows of '${target.name}' with related rows cannot be left out`,
      'resolution=ignore-duplicates is for rows without related rows',
    );
    throw locatedProblem(problem, pointer);
  }
  const kept = new Set([...[...referenced].map((name) => target.columns.get(name)!), ...readBy]);
  return { level, index, conflict, kept: [...kept] };
}

function conflictParameter(path: string): string {
  return path === '' ? 'on_conflict' : `${path}.on_conflict`;
}

/** The setting of the transaction that keeps the keys of the rows of a level. */
function settingName(level: number): string {
  return `pgway.nested_${level}`;
}

/** @param guards gets that of the level, if it has one */
function levelStatement(
  { preferences }: TargetRequest,
  { level, index, conflict, kept }: PlannedLevel,
  { levels, guards }: { readonly levels: readonly NestedLevel[]; readonly guards: ResultGuard[] },
): SqlText {
  const { target, rows, count } = level;
  const columns = insertColumns({ target, preferences }, { rows: level, listed: level.listed });
  const insert = nestedInsertStatement(target, {
    body: jsonParameter(`[${rows.join(',')}]`),
    columns,
    conflict,
    outer: outerRows(level, levels),
  });
  if (kept.length === 0 && index > 0) return insert;
  const guard: ResultGuard = { kind: 'all', limit: count, token: crypto.randomUUID() };
  guards.push(guard);
  return keepingStatement(insert, settingName(index), { columns: kept, guard: guardSql(guard) });
}

const positionsSource: ValueSource = {
  name: 'body',
  key: 'body',
  type: { sql: 'pg_catalog.int8[]', display: 'bigint[]' },
};

function outerRows({ outer, outerPositions, target }: NestedLevel, levels: readonly NestedLevel[]): OuterRows | null {
  if (outer === null) return null;
  const { columns } = levels[outer.level]!.target;
  return {
    positions: new SqlText().bind(arrayLiteral(outerPositions.map(String)), positionsSource.type.sql, positionsSource),
    setting: settingName(outer.level),
    pairs: outer.relationship.pairs.map(([referenced, referencing]) => [
      columns.get(referenced)!,
      target.columns.get(referencing)!,
    ]),
  };
}

function locate(error: unknown, level: NestedLevel): unknown {
  if (error instanceof Problem) return locatedProblem(error, level.pointer);
  if (!isDatabaseError(error)) return error;
  return new LocatedError(error, { pointer: failedPointer(level, error.diagnostics) });
}
