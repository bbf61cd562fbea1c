import type { Query, QueryBuilder, QueryInput } from '../ports/ports.ts';
import type { Endpoint, Listing } from '../endpoints/endpoint.ts';
import { buildSelectList } from '../endpoints/statement.ts';
import { checkConditionCount, equalityConditions } from './condition.ts';
import { parseColumnFilters } from './listing/column-filters.ts';
import { type ListingPage, parsePage, writeListingPage } from './listing/page.ts';
import { parseSelection, type Selection } from './listing/selection.ts';
import { type Condition, writeWhere } from './parts/condition.ts';
import { SqlText } from './parts/sql-text.ts';
import {
  aliasedTable,
  coversKey,
  listProvidedColumns,
  choosePlanMode,
  type ProvidedColumn,
  requireTable,
  rowAlias,
} from './provided-columns.ts';
import { toReadProblem, toSelectProblem } from './read-problem.ts';
import { writeColumns } from './read/joined-columns.ts';
import { rowVersionSql } from './row-version.ts';

/** Builds a SELECT of the rows that equal all provided columns, or of a listing with filters, order and pages. */
export const buildSelect: QueryBuilder = (input) => {
  const { listing } = requireTable(input.endpoint);
  if (listing !== null) return buildListing(input, listing);
  const provided = listProvidedColumns(input);
  const conditions = checkConditionCount(equalityConditions(provided));
  const statement = selectRows(input.endpoint, conditions).finish('select');
  return { ...statement, ...choosePlanMode(input.endpoint, provided, statement.values.length) };
};

export function selectRows(endpoint: Endpoint, conditions: readonly Condition[]): SqlText {
  const sql = new SqlText().addLazily(
    () => `select ${buildSelectList(endpoint, rowAlias)} from ${aliasedTable(endpoint)}`,
    '',
  );
  writeWhere(sql, conditions);
  return sql;
}

function buildListing(input: QueryInput, listing: Listing): Query {
  try {
    return buildPage(input, listing);
  } catch (error) {
    throw toReadProblem(error);
  }
}

function buildPage(input: QueryInput, listing: Listing): Query {
  const { endpoint } = input;
  const filters = parseColumnFilters(listProvidedColumns(input), endpoint.queryStringNullHandling);
  const conditions = checkConditionCount(filters.conditions);
  const page = parsePage(input, listing);
  const selection = parseSelection(input, listing);
  const statement = writePageOf(endpoint, [...conditions, ...page.after], { page, selection }).finish(
    'select',
    selection?.texts,
  );
  const onlyEqualities =
    selection === null && page.after.length === 0 && filters.equal.length === filters.conditions.length;
  return {
    ...statement,
    ...choosePlanMode(endpoint, onlyEqualities ? filters.equal : [], statement.values.length),
    ...buildHeaderQuery(input, conditions, { equal: filters.equal, selection }),
    ...selectionResult(selection),
  };
}

export function writePageOf(
  endpoint: Endpoint,
  conditions: readonly Condition[],
  { page, selection }: { readonly page: ListingPage; readonly selection: Selection | null },
): SqlText {
  if (selection === null) {
    const sql = selectRows(endpoint, conditions);
    writeListingPage(sql, page);
    return sql;
  }
  const { columns, from } = selection;
  const sql = new SqlText();
  if (columns === null) sql.addLazily(() => `select ${buildSelectList(endpoint, rowAlias)} from `, '').append(from);
  else {
    sql.add(`select ${columns.outer} from (select `);
    writeColumns(sql, columns.inner);
    sql.add(' from ').append(from);
  }
  writeWhere(sql, [...conditions, ...selection.conditions]);
  writeListingPage(sql, page);
  return columns === null ? sql : sql.add(') "page"');
}

function selectionResult(selection: Selection | null): Pick<Query, 'columns' | 'readsOthers' | 'toError'> {
  if (selection === null) return {};
  const { columns, readsOthers } = selection;
  return {
    ...(columns === null ? {} : { columns: columns.result }),
    ...(readsOthers ? { readsOthers } : {}),
    toError: toSelectProblem,
  };
}

/** A response header whose value is an SQL expression. */
interface QueryHeader {
  readonly name: string;
  readonly write: (sql: SqlText) => void;
}

function buildHeaderQuery(
  input: QueryInput,
  conditions: readonly Condition[],
  { equal, selection }: { readonly equal: readonly ProvidedColumn[]; readonly selection: Selection | null },
): Pick<Query, 'headerQuery'> {
  const headers = [
    ...countHeaders(input, conditions, selection),
    // A version of the row says nothing of related rows.
    ...(selection?.readsOthers === true
      ? []
      : versionHeaders(input, [...conditions, ...(selection?.conditions ?? [])], equal)),
  ];
  if (headers.length === 0) return {};
  const sql = new SqlText().add('select ', '');
  for (const [index, { write }] of headers.entries()) write(index === 0 ? sql : sql.add(', '));
  return { headerQuery: { ...sql.finish('head', selection?.texts), names: headers.map(({ name }) => name) } };
}

/** `Prefer: count=exact` (RFC 7240). */
const preferCount = /(?:^|[\s,;])count\s*=\s*"?exact"?(?=$|[\s,;])/i;

const onlyVersion = `case when pg_catalog.count(*) operator(pg_catalog.=) 1 then pg_catalog.min(${rowVersionSql}) end`;

function countHeaders(
  { endpoint, request }: QueryInput,
  conditions: readonly Condition[],
  selection: Selection | null,
): readonly QueryHeader[] {
  const prefer = request.header('prefer');
  if (prefer === undefined || !preferCount.test(prefer)) return [];
  return [
    {
      name: 'x-total-count',
      write: (sql) => {
        if (selection === null) {
          sql.addLazily(() => `(select pg_catalog.count(*) from ${aliasedTable(endpoint)}`, 'count(');
        } else sql.add('(select pg_catalog.count(*) from ').append(selection.counted.from);
        writeWhere(sql, [...conditions, ...(selection?.counted.where ?? [])]);
        sql.add(')');
      },
    },
    { name: 'preference-applied', write: (sql) => sql.add("'count=exact'") },
  ];
}

/**
 * The version is read before the row, so that the tag is never newer than the row. A key is not unique across tables that inherit: for
 * two rows there is no version.
 */
function versionHeaders(
  { endpoint }: QueryInput,
  conditions: readonly Condition[],
  equal: readonly ProvidedColumn[],
): readonly QueryHeader[] {
  if (!requireTable(endpoint).versioned || !coversKey(endpoint, equal)) return [];
  return [
    {
      name: 'etag',
      write: (sql) => {
        sql.addLazily(() => `(select ${onlyVersion} from ${aliasedTable(endpoint)}`, 'version(');
        writeWhere(sql, conditions);
        sql.add(')');
      },
    },
  ];
}
