import type { TableColumn, ValueSource } from '@pgway/core';
import {
  bodyAlias,
  bodyReference,
  qualifyDefault,
  type WrittenColumn,
  type Condition,
  conditionsOf,
  type Filter,
  type Level,
  type RelationColumn,
  SqlText,
} from '@pgway/core/internal';
import { invalidBody, postgrestProblem, syntaxProblem } from './postgrest-problem.ts';
import { readRows, type RowsBody, selectRowsFormat } from './rows-body.ts';
import { parseNames, requireColumn, type Target, type TargetRequest } from './target.ts';
import type { ConflictAction } from './write-statements.ts';

const bodySource: ValueSource = { name: 'body', key: 'body', type: { sql: 'pg_catalog.json', display: 'json' } };

/** Returns the JSON text of the rows as a parameter. */
export function jsonParameter(json: string): SqlText {
  return new SqlText().bind(json, bodySource.type.sql, bodySource);
}

/** The rows of a request, and the columns and related rows that it lists; null: those of the rows. */
export interface GivenRows {
  readonly rows: RowsBody;
  readonly listed: readonly string[] | null;
}

/**
 * @param isRelated whether the value of a key is related rows
 * @throws Problem PGRST102
 */
export async function readGivenRows(
  { body, contentType, parameters, preferences }: TargetRequest,
  isRelated: (key: string) => boolean = () => false,
): Promise<GivenRows> {
  const format = selectRowsFormat(contentType);
  const columns = parameters().get('columns')?.[0];
  const listed = columns === undefined ? null : parseNames('columns', columns);
  if (listed?.length === 0) throw syntaxProblem('columns', 'a name of a column is expected');
  const keysMayDiffer = listed !== null || mayDiffer(preferences);
  const listedKeys = listed === null ? null : new Set(listed);
  const options = { keysMayDiffer, isRelated: (key: string) => listedKeys?.has(key) !== false && isRelated(key) };
  return { rows: await readRows(body ?? '', format, options), listed };
}

/** Whether rows of one table may have different keys: a row without a key gets the default of the column. */
export function mayDiffer({ missing }: TargetRequest['preferences']): boolean {
  return missing === 'default';
}

/**
 * Returns the columns that an INSERT writes. A column that no row has is left to its default, or NULL where the request asks for it.
 * @throws Problem PGRST204; PGRST102 for a default that cannot be part of the statement
 */
export function insertColumns(
  { target, preferences }: Pick<TargetRequest, 'target' | 'preferences'>,
  { rows, listed }: { readonly rows: Pick<RowsBody, 'keys' | 'missing'>; readonly listed: GivenRows['listed'] },
): readonly WrittenColumn[] {
  const usesDefaults = preferences.missing === 'default';
  return (listed ?? [...rows.keys]).flatMap((name): readonly WrittenColumn[] => {
    const column = requireColumn(target, name);
    if (!usesDefaults) return [{ column, ifMissing: 'null' }];
    if (!rows.keys.has(name)) return [];
    if (!rows.missing.has(name)) return [{ column, ifMissing: 'null' }];
    requireQualifiedDefault(column);
    return [{ column, ifMissing: 'default' }];
  });
}

/** Where only some rows have the key, the statement has the expression: DEFAULT is for all rows of a statement. */
function requireQualifiedDefault({ name, defaultExpression = null }: TableColumn): void {
  if (defaultExpression === null || qualifyDefault(defaultExpression) !== null) return;
  throw invalidBody(
    `Some rows have the column '${name}' and others lack it`,
    'Its default is an expression: send the rows without the column in a request of their own',
  );
}

/**
 * Returns the columns that an UPDATE sets: to values, and to their defaults.
 * @throws Problem PGRST102 for other than one row, PGRST204
 */
export function updateColumns(
  { target, preferences }: TargetRequest,
  { rows, listed }: GivenRows,
): { readonly columns: readonly RelationColumn[]; readonly defaults: readonly TableColumn[] } {
  if (rows.count > 1) throw invalidBody('An update takes one object', `The body has ${rows.count}`);
  const all = (listed ?? [...rows.keys]).map((name) => requireColumn(target, name));
  if (rows.count === 0) return { columns: [], defaults: [] };
  const usesDefaults = preferences.missing === 'default';
  const isDefault = ({ name }: TableColumn): boolean => usesDefaults && !rows.keys.has(name);
  return { columns: all.filter((column) => !isDefault(column)), defaults: all.filter(isDefault) };
}

/**
 * Returns the action for rows that exist; null: an error.
 * @param parameter the one that lists the columns of a unique constraint; without it, the primary key counts
 * @throws Problem PGRST204, 42501 for an action that is not published
 */
export function selectConflict(
  { target, preferences, parameters }: Pick<TargetRequest, 'target' | 'preferences' | 'parameters'>,
  parameter = 'on_conflict',
): ConflictAction | null {
  const { resolution } = preferences;
  if (resolution === null) return null;
  const names = parameters().get(parameter)?.[0];
  const columns =
    names === undefined ? target.key : parseNames(parameter, names).map((name) => requireColumn(target, name));
  if (columns.length === 0) return null;
  const action = resolution === 'merge-duplicates' ? 'merge' : 'ignore';
  if (target.options.conflictActions.includes(action)) return { action, columns };
  throw postgrestProblem(403, '42501', `resolution=${resolution} is not available for the table ${target.name}`);
}

/** PGRST105: the filters of a PUT. */
export const keyFilters = "Filters must include all and only primary key columns with 'eq' operators";

/**
 * Returns the conditions of a PUT on `"body"`: its URL names one row by the primary key.
 * @throws Problem PGRST105 for other filters, PGRST114 for a page
 */
export function keyConditions(target: Target, { filters, limit, offset, order }: Level): readonly Condition[] {
  if (limit !== null || offset > 0 || order.length > 0) {
    throw postgrestProblem(400, 'PGRST114', 'limit/offset querystring parameters are not allowed for PUT');
  }
  const names = new Set(filters.map(keyColumn));
  if (
    names.size !== filters.length ||
    names.size !== target.key.length ||
    target.key.some(({ name }) => !names.has(name))
  ) {
    throw postgrestProblem(405, 'PGRST105', keyFilters);
  }
  return conditionsOf({ relation: target, alias: bodyAlias, referenceOf: bodyReference }, filters);
}

/** The column of a filter by equality; null for other filters. */
function keyColumn(filter: Filter): string | null {
  if (filter.kind !== 'condition' || filter.operator !== 'eq' || filter.negated || filter.quantifier !== null)
    return null;
  return filter.field.path.length === 0 ? filter.field.column : null;
}

/**
 * Refuses a write to all rows, unless the table allows it.
 * @throws Problem 21000
 */
export function requireFilter(target: Target, statement: 'UPDATE' | 'DELETE', isFiltered: boolean): void {
  const isAllowed = statement === 'UPDATE' ? target.options.allowUnfilteredUpdate : target.allowUnfilteredDelete;
  if (isFiltered || isAllowed) return;
  throw postgrestProblem(400, '21000', `${statement} requires a WHERE clause`, {
    hint: 'Add a filter to the query string',
  });
}
