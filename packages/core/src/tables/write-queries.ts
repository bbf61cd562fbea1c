import { quoteIdentifier } from '../catalog/quote.ts';
import { Problem, type Query, type QueryBuilder, type QueryInput } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { buildColumnList, buildSelectList, convertQuery } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions, whereClause } from './condition.ts';
import { type Fragment, joinFragments, textFragment, toStatement } from './fragment.ts';
import { isSettable } from './operations.ts';
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
import { ifMatchCondition } from './row-version.ts';

/**
 * Returns the builder of INSERT statements with the conflict action; null: a conflict is an error. The builder throws the Problem
 * `missing-column` without any column, and without those that `checkRequiredColumns` needs.
 */
export function createInsertBuilder(conflictAction: 'nothing' | 'update' | null): QueryBuilder {
  return (input) => {
    const { endpoint } = input;
    const provided = listProvidedColumns(input);
    const columns = listColumnParameters(endpoint);
    checkRequiredColumns(columns, provided, conflictAction !== null);
    if (provided.length === 0) throw missingColumn(columns, 'Give at least one column of the row');
    const into = textFragment('', () => `insert into ${aliasedTable(endpoint)}`);
    const end = textFragment(
      '',
      () => `${conflictClause(conflictAction, endpoint, provided)}${returningClause(endpoint, {})}`,
    );
    return toStatement('insert', convertRows(endpoint, joinFragments([into, valuesClause(provided), end], '')));
  };
}

function valuesClause(provided: readonly ProvidedColumn[]): Fragment {
  const columns = textFragment(
    '',
    () => ` (${provided.map(columnName).join(', ')})${overridingClause(provided)} values (`,
  );
  return joinFragments([columns, joinFragments(provided.map(placeholder), ', '), textFragment('', ')')], '');
}

const columnName = ({ facts }: ColumnParameter): string => quoteIdentifier(facts.name);

function placeholder(column: ProvidedColumn): Fragment {
  const { position, type } = column.parameter;
  return { key: `${position}`, text: (next) => `${next()}::${type.sql}`, values: [toStoredValue(column)] };
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
  const target = ` on conflict (${keys.map((key) => quoteIdentifier(key.name)).join(', ')}) do`;
  const updated = action === 'update' ? provided.filter(({ facts }) => isSettable(facts)) : [];
  // DO UPDATE needs a column: with the key alone, an existing row stays as it is.
  if (updated.length === 0) return `${target} nothing`;
  return `${target} update set ${updated.map((column) => `${columnName(column)} = excluded.${columnName(column)}`).join(', ')}`;
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
  const update = textFragment('', () => `update ${aliasedTable(endpoint)} set `);
  const set = [update, joinFragments(updated.map(assignment), ', ')];
  return finishChange('update', input, { start: set, keys, conditions: equalityConditions(keys) });
};

function assignment(column: ProvidedColumn): Fragment {
  const value = placeholder(column);
  return { ...value, text: (next) => `${columnName(column)} = ${value.text(next)}` };
}

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
  const start = [textFragment('', () => `delete from ${aliasedTable(endpoint)}`)];
  const conditions = checkConditionCount(equalityConditions(provided));
  return finishChange('delete', input, { start, keys: provided, conditions });
};

interface Change {
  /** The statement up to its WHERE clause. */
  readonly start: readonly Fragment[];
  /** The columns that select the rows. */
  readonly keys: readonly ProvidedColumn[];
  readonly conditions: readonly Fragment[];
}

/** Adds the WHERE clause with `If-Match`, and the RETURNING clause. */
function finishChange(prefix: string, input: QueryInput, { start, keys, conditions }: Change): Query {
  const { endpoint } = input;
  const { conditions: ifMatch, ...precondition } = ifMatchCondition(input);
  const noRow = precondition.noRowProblem === undefined ? findMissingRow(endpoint, keys) : precondition;
  const returning = textFragment(noRow.noRowProblem === undefined ? '' : 'counted', () =>
    returningClause(endpoint, noRow),
  );
  const statement = joinFragments([...start, whereClause([...conditions, ...ifMatch]), returning], '');
  const query = toStatement(prefix, convertRows(endpoint, statement));
  return { ...query, ...choosePlanMode(endpoint, keys, keys.length), ...noRow };
}

/** Returns the problem of a complete key that no row has. Rows that row level security hides are no rows. */
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

function convertRows(endpoint: Endpoint, statement: Fragment): Fragment {
  if (!convertsOutside(endpoint)) return statement;
  return { ...statement, text: (next) => convertQuery(endpoint, statement.text(next)) };
}
