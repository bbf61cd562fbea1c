import { quoteIdentifier } from '../catalog/quote.ts';
import { Problem, type Query, type QueryBuilder, type QueryInput } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { buildColumnList, buildSelectList, convertQuery } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions } from './condition.ts';
import { isSettable } from './operations.ts';
import { type Condition, writeWhere } from './parts/condition.ts';
import { conflictSql } from './parts/conflict.ts';
import { type FinishedStatement, SqlText } from './parts/sql-text.ts';
import {
  aliasedTable,
  type ColumnParameter,
  listColumnParameters,
  listProvidedColumns,
  missingColumn,
  choosePlanMode,
  type ProvidedColumn,
  requireTable,
  rowAlias,
  toStoredValue,
} from './provided-columns.ts';
import { checkSameColumns, insertProvidedRows, toRowsProblem } from './insert-rows.ts';
import { ifMatchCondition } from './row-version.ts';

/**
 * Returns the builder of INSERT statements with the conflict action; null: a conflict is an error. The builder throws the Problem
 * `missing-column` without any column, and without those that `checkRequiredColumns` needs.
 */
export function createInsertBuilder(conflictAction: 'nothing' | 'update' | null): QueryBuilder {
  return (input) => {
    const { endpoint, rows } = input;
    const columns = listColumnParameters(endpoint);
    if (rows !== undefined) {
      const all = rows.map((row) => listProvidedColumns({ endpoint, ...row }));
      checkSameColumns(all);
      checkRequiredColumns(columns, all[0]!, conflictAction !== null);
      if (all[0]!.length === 0) throw missingColumn(columns, 'Give at least one column of each row');
      const sql = insertProvidedRows(endpoint, all);
      return { ...finishInsert(sql, { endpoint, conflictAction, provided: all[0]! }), toError: toRowsProblem };
    }
    const provided = listProvidedColumns(input);
    checkRequiredColumns(columns, provided, conflictAction !== null);
    if (provided.length === 0) throw missingColumn(columns, 'Give at least one column of the row');
    const sql = new SqlText().addLazily(() => `insert into ${aliasedTable(endpoint)}`, '');
    writeValues(sql, provided);
    return finishInsert(sql, { endpoint, conflictAction, provided });
  };
}

interface InsertEnd {
  readonly endpoint: Endpoint;
  readonly conflictAction: 'nothing' | 'update' | null;
  readonly provided: readonly ProvidedColumn[];
}

function finishInsert(sql: SqlText, { endpoint, conflictAction, provided }: InsertEnd): Query {
  sql.addLazily(() => `${conflictClause(conflictAction, endpoint, provided)}${returningClause(endpoint, {})}`, '');
  return convertRows(endpoint, sql.finish('insert'));
}

function writeValues(sql: SqlText, provided: readonly ProvidedColumn[]): void {
  sql.addLazily(() => ` (${provided.map(columnName).join(', ')})${overridingClause(provided)} values (`, '');
  for (const [index, column] of provided.entries()) {
    if (index > 0) sql.add(', ', '');
    writeStoredValue(sql, column);
  }
  sql.add(')', '');
}

const columnName = ({ facts }: ColumnParameter): string => quoteIdentifier(facts.name);

/** The positions of the columns are the key of a write: they are in order, and decide the text. */
function writeStoredValue(sql: SqlText, column: ProvidedColumn): void {
  const { position, type } = column.parameter;
  sql.bind(toStoredValue(column), type.sql, column.parameter, `${position},`);
}

/** @throws Problem `missing-column` without the columns that have no default, or those of the key, which ON CONFLICT needs */
function checkRequiredColumns(
  columns: readonly ColumnParameter[],
  provided: readonly ProvidedColumn[],
  requiresKey: boolean,
): void {
  const names = new Set(provided.map(({ facts }) => facts.name));
  const missing = columns.filter(
    ({ facts }) => !names.has(facts.name) && (isRequired(facts) || (requiresKey && facts.key)),
  );
  if (missing.length === 0) return;
  throw missingColumn(missing, `The row needs these columns${provided.length === 0 ? '' : ' too'}`);
}

function isRequired({ notNull, hasDefault, identity, generated }: ColumnParameter['facts']): boolean {
  return notNull && !hasDefault && identity === null && !generated;
}

/** Without it, PostgreSQL refuses values for identity columns that are GENERATED ALWAYS. */
function overridingClause(provided: readonly ProvidedColumn[]): string {
  return provided.some(({ facts }) => facts.identity === 'always') ? ' overriding system value' : '';
}

function conflictClause(
  action: 'nothing' | 'update' | null,
  endpoint: Endpoint,
  provided: readonly ProvidedColumn[],
): string {
  if (action === null) return '';
  const keys = requireTable(endpoint).columns.filter(({ key }) => key);
  // With the key alone, an existing row stays as it is.
  const updated = action === 'update' ? provided.filter(({ facts }) => isSettable(facts)) : [];
  return conflictSql(
    keys.map(({ name }) => name),
    updated.map(({ facts }) => facts.name),
  );
}

/** Builds an UPDATE: columns of the key select the rows, the others are set. */
export const buildUpdate: QueryBuilder = (input) => {
  const { endpoint } = input;
  const provided = listProvidedColumns(input);
  const keys = provided.filter(({ facts }) => facts.key);
  const updated = provided.filter(({ facts }) => !facts.key);
  const columns = listColumnParameters(endpoint);
  if (keys.length === 0) {
    const missing = columns.filter(({ facts }) => facts.key);
    throw missingColumn(missing, 'Give the key of the row to update');
  }
  if (updated.length === 0) {
    const missing = columns.filter(({ facts }) => !facts.key);
    throw missingColumn(missing, 'Give at least one column to set');
  }
  const sql = new SqlText().addLazily(() => `update ${aliasedTable(endpoint)} set `, '');
  for (const [index, column] of updated.entries()) {
    sql.addLazily(() => `${index === 0 ? '' : ', '}${columnName(column)} = `, '');
    writeStoredValue(sql, column);
  }
  return finishChange('update', input, { sql, keys, conditions: equalityConditions(keys) });
};

/**
 * Builds a DELETE of the rows that equal all provided columns.
 * @throws Problem `unfiltered-delete` without any, unless the table allows it
 */
export const buildDelete: QueryBuilder = (input) => {
  const { endpoint } = input;
  const provided = listProvidedColumns(input);
  if (provided.length === 0 && !requireTable(endpoint).allowUnfilteredDelete) {
    throw new Problem('unfiltered-delete', {
      detail:
        'Give at least one column in the query string. A comment on the table with the line "allow_unfiltered_delete" lets a delete without any delete every row.',
    });
  }
  const sql = new SqlText().addLazily(() => `delete from ${aliasedTable(endpoint)}`, '');
  const conditions = checkConditionCount(equalityConditions(provided));
  return finishChange('delete', input, { sql, keys: provided, conditions });
};

interface Change {
  /** The statement up to its WHERE clause. */
  readonly sql: SqlText;
  /** The columns that select the rows. */
  readonly keys: readonly ProvidedColumn[];
  readonly conditions: readonly Condition[];
}

/** Adds the WHERE clause with `If-Match`, and the RETURNING clause. */
function finishChange(prefix: string, input: QueryInput, { sql, keys, conditions }: Change): Query {
  const { endpoint } = input;
  const { conditions: ifMatch, ...precondition } = ifMatchCondition(input);
  const noRow = precondition.noRowProblem === undefined ? findMissingRow(endpoint, keys) : precondition;
  writeWhere(sql, [...conditions, ...ifMatch]);
  const isCounted = noRow.noRowProblem !== undefined && endpoint.result.kind !== 'objects';
  sql.addLazily(() => returningClause(endpoint, noRow), isCounted ? ' counted' : '');
  return {
    ...convertRows(endpoint, sql.finish(prefix)),
    ...choosePlanMode(endpoint, keys, keys.length),
    ...noRow,
  };
}

/** Returns the problem of a complete key that no row has. Rows that row level security hides do not count. */
function findMissingRow(endpoint: Endpoint, given: readonly ProvidedColumn[]): Pick<Query, 'noRowProblem'> {
  const { columns, requiresRow } = requireTable(endpoint);
  if (!requiresRow) return {};
  const names = new Set(given.map(({ facts }) => facts.name));
  const keys = columns.filter(({ key }) => key);
  return keys.length > 0 && keys.every(({ name }) => names.has(name)) ? { noRowProblem: rowNotFound } : {};
}

const rowNotFound = new Problem('row-not-found', {
  detail: 'No row meets the conditions, or you may not change it.',
});

/** Returns the result columns, or a constant per row where rows are only counted. */
function returningClause(endpoint: Endpoint, { noRowProblem }: Pick<Query, 'noRowProblem'>): string {
  if (endpoint.result.kind === 'objects') {
    const build = convertsOutside(endpoint) ? buildColumnList : buildSelectList;
    return ` returning ${build(endpoint, rowAlias)}`;
  }
  return noRowProblem === undefined ? '' : ' returning 1';
}

/** Whether the returned rows are converted outside of the statement: Citus refuses `to_json`, which is not immutable, in RETURNING. */
function convertsOutside({ citus, result, raw }: Endpoint): boolean {
  if (citus === undefined || result.kind !== 'objects' || raw !== null) return false;
  return result.columns.some(({ type }) => type.json === 'converted');
}

function convertRows(endpoint: Endpoint, statement: FinishedStatement): FinishedStatement {
  if (!convertsOutside(endpoint)) return statement;
  return { ...statement, sql: () => convertQuery(endpoint, statement.sql()) };
}
