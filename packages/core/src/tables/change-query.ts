import { type ChangeStatementsBuilder, type ChangeStatements, Problem, type QueryInput } from '../ports/ports.ts';
import type { Endpoint, Listing, ResultColumn } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions, operationOf, operandOf } from './condition.ts';
import { parseColumnFilters } from './listing/column-filters.ts';
import { parsePage } from './listing/page.ts';
import { parseSelection, type Selection } from './listing/selection.ts';
import { writeColumns } from './read/joined-columns.ts';
import { toReadProblem, toSelectProblem } from './read-problem.ts';
import { selectRows, writePageOf } from './select-query.ts';
import { type Condition, writeConditions, writeOperand } from './parts/condition.ts';
import { SqlText } from './parts/sql-text.ts';
import { aliasedTable, listColumnParameters, listProvidedColumns, requireTable, rowAlias } from './provided-columns.ts';

/** Builds the statements that read rows by their keys, and all rows, with the filters and `select` of a request. */
export const buildChangeStatements: ChangeStatementsBuilder = (input) => {
  const { endpoint } = input;
  const { listing } = requireTable(endpoint);
  const provided = listProvidedColumns(input);
  const keys = keyColumns(endpoint);
  if (listing === null) {
    const conditions = checkConditionCount(equalityConditions(provided));
    const snapshot = selectRows(endpoint, conditions).finish('snapshot');
    return { lookup: selectByKey(endpoint, keys, conditions, null), snapshot, keys };
  }
  const conditions = checkConditionCount(parseColumnFilters(provided, endpoint.queryStringNullHandling).conditions);
  const page = parsePage(input, listing);
  const selection = parseOwnSelection(input, listing);
  const snapshot = writePageOf(endpoint, [...conditions, ...page.after], { page, selection }).finish(
    'snapshot',
    selection?.texts,
  );
  const columns = selection?.columns ?? null;
  return {
    lookup: selectByKey(endpoint, keys, [...conditions, ...(selection?.conditions ?? [])], selection),
    snapshot,
    keys,
    ...(columns === null ? {} : { columns: columns.result, toError: toSelectProblem }),
  };
};

/** @throws Problem `invalid-parameter` for related rows: changes of their tables are not sent */
function parseOwnSelection(input: QueryInput, listing: Listing): Selection | null {
  try {
    const selection = parseSelection(input, listing);
    if (selection?.readsOthers !== true) return selection;
  } catch (error) {
    throw toReadProblem(error);
  }
  throw new Problem('invalid-parameter', {
    detail:
      'The parameter "select": a stream of changes has no related rows, as changes of their tables make no event; select columns only.',
    members: { parameters: ['select'] },
  });
}

/** The columns of the result that identify a row. */
function keyColumns({ result, changes }: Endpoint): readonly ResultColumn[] {
  const columns = result.kind === 'objects' ? result.columns : [];
  return changes!.key.flatMap(({ shown }) => columns.filter(({ name }) => name === shown));
}

/**
 * The join uses the index of the key, of several columns too.
 * @param selection null: the columns of the endpoint
 */
function selectByKey(
  endpoint: Endpoint,
  keys: readonly ResultColumn[],
  conditions: readonly Condition[],
  selection: Pick<Selection, 'columns' | 'texts'> | null,
): ChangeStatements['lookup'] {
  const parameters = listColumnParameters(endpoint);
  const columns = keys.map(({ name }) => parameters.find(({ facts }) => facts.name === name)!);
  const result = { kind: 'objects', columns: keys } as const;
  const keyList = buildSelectList({ result, raw: null }, rowAlias);
  const selected = selection?.columns ?? null;
  const rowList = selected === null ? buildSelectList(endpoint, rowAlias) : selected.outer;
  const sql = new SqlText().add(`select "k"."n", ${keyList}, ${rowList} from `);
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
  if (selected !== null) {
    writeColumns(sql.add(' cross join lateral (select '), selected.inner);
    sql.add(') as "page"');
  }
  if (conditions.length > 0) writeConditions(sql.add(' where '), conditions, ' and ');
  const { sql: text, values, valueSources } = sql.finish('changes', selection?.texts);
  return {
    sql: text(),
    values: values.slice(columns.length),
    // The keys are not values of the client.
    valueSources: valueSources.map((source, index) => (index < columns.length ? null : source)),
  };
}
