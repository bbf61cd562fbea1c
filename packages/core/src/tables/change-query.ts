import { type ChangeStatementsBuilder, type ChangeStatements, Problem, type QueryInput } from '../ports/ports.ts';
import type { Endpoint, Listing, ResultColumn } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions, operationOf, operandOf } from './condition.ts';
import { parseColumnFilters } from './listing/column-filters.ts';
import { parsePage, writeListingPage } from './listing/page.ts';
import { parseSelection } from './listing/selection.ts';
import { toReadProblem } from './read-problem.ts';
import { type Condition, writeConditions, writeOperand, writeWhere } from './parts/condition.ts';
import { SqlText } from './parts/sql-text.ts';
import { aliasedTable, listColumnParameters, listProvidedColumns, requireTable, rowAlias } from './provided-columns.ts';

/** Builds the statements that read rows by their keys, and all rows, with the filters of a request. */
export const buildChangeStatements: ChangeStatementsBuilder = (input) => {
  const { endpoint } = input;
  const { listing } = requireTable(endpoint);
  const conditions = selectConditions(input);
  const page = listing === null ? null : parsePage(input, listing);
  const snapshot = selectAll(endpoint, [...conditions, ...(page?.after ?? [])]);
  if (page !== null) writeListingPage(snapshot, page);
  const keys = keyColumns(endpoint);
  return { lookup: selectByKey(endpoint, keys, conditions), snapshot: snapshot.finish('snapshot'), keys };
};

function selectConditions(input: QueryInput): readonly Condition[] {
  const provided = listProvidedColumns(input);
  const { endpoint } = input;
  const { listing } = requireTable(endpoint);
  if (listing === null) return checkConditionCount(equalityConditions(provided));
  const { conditions } = parseColumnFilters(provided, endpoint.queryStringNullHandling);
  return [...checkConditionCount(conditions), ...groupConditions(input, listing)];
}

/**
 * Returns the conditions of groups and values of JSON.
 * @throws Problem `invalid-parameter` for `select`: rows have the columns of the endpoint, and no related rows
 */
function groupConditions(input: QueryInput, listing: Listing): readonly Condition[] {
  try {
    const selection = parseSelection(input, listing);
    if (selection === null || selection.columns === null) return selection?.conditions ?? [];
  } catch (error) {
    throw toReadProblem(error);
  }
  throw new Problem('invalid-parameter', {
    detail: 'The parameter "select": a stream of changes has all columns; remove it.',
    members: { parameters: ['select'] },
  });
}

function selectAll(endpoint: Endpoint, conditions: readonly Condition[]): SqlText {
  const sql = new SqlText().add(`select ${buildSelectList(endpoint, rowAlias)} from ${aliasedTable(endpoint)}`);
  writeWhere(sql, conditions);
  return sql;
}

/** The columns of the result that identify a row. */
function keyColumns({ result, changes }: Endpoint): readonly ResultColumn[] {
  const columns = result.kind === 'objects' ? result.columns : [];
  return changes!.key.flatMap(({ shown }) => columns.filter(({ name }) => name === shown));
}

/** The join uses the index of the key, of several columns too. */
function selectByKey(
  endpoint: Endpoint,
  keys: readonly ResultColumn[],
  conditions: readonly Condition[],
): ChangeStatements['lookup'] {
  const parameters = listColumnParameters(endpoint);
  const columns = keys.map(({ name }) => parameters.find(({ facts }) => facts.name === name)!);
  const result = { kind: 'objects', columns: keys } as const;
  const keyList = buildSelectList({ result, raw: null }, rowAlias);
  const sql = new SqlText().add(`select "k"."n", ${keyList}, ${buildSelectList(endpoint, rowAlias)} from `);
  sql.add('rows from (');
  for (const [index, { parameter }] of columns.entries()) {
    sql
      .add(`${index === 0 ? '' : ', '}pg_catalog.unnest(`)
      .bind('', `${parameter.type.sql}[]`, parameter)
      .add(')');
  }
  const names = columns.map((_, index) => `"c${index}", `).join('');
  sql.add(`) with ordinality as "k" (${names}"n") join ${aliasedTable(endpoint)} on `);
  for (const [index, column] of columns.entries()) {
    const { type, operator } = operationOf(column, '=');
    const cast = type === null ? '' : `::${type}`;
    writeOperand(sql.add(index === 0 ? '' : ' and '), operandOf(column));
    sql.add(`${cast} ${operator} "k"."c${index}"${cast}`);
  }
  if (conditions.length > 0) writeConditions(sql.add(' where '), conditions, ' and ');
  const { sql: text, values, valueSources } = sql.finish('changes');
  return {
    sql: text(),
    values: values.slice(columns.length),
    // The keys are not values of the client.
    valueSources: valueSources.map((source, index) => (index < columns.length ? null : source)),
  };
}
