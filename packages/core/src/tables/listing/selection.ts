import type { QueryInput } from '../../ports/ports.ts';
import type { Endpoint, EndpointParameter, Listing, ResultColumn } from '../../endpoints/endpoint.ts';

import { quoteIdentifier } from '../../catalog/quote.ts';
import { buildSelectList } from '../../endpoints/statement.ts';
import type { Condition } from '../parts/condition.ts';
import type { TextValue } from '../parts/request-value.ts';
import { SqlText } from '../parts/sql-text.ts';
import { aliasedTable, rowAlias } from '../provided-columns.ts';
import { readTargetOf } from '../read-targets.ts';
import { soleCount } from '../read/aggregate-sql.ts';
import type { ValueForm } from '../read/column-sql.ts';
import { parseReadQuery } from '../read/parse-query.ts';
import { emptyLevel, type Filter, type ReadQuery, type SelectItem } from '../read/query.ts';
import { readShape } from '../read/query-shape.ts';
import { syntaxFault } from '../read/read-fault.ts';
import { type LevelSql, SelectBuilder } from '../read/select-builder.ts';
import { ShapeCache } from '../read/shape-cache.ts';
import { readListingParameter } from './page.ts';

type NamedType = ResultColumn['type'];

/** The columns and related rows of a request, and its groups of conditions. */
export interface Selection {
  /** Null: the columns of the endpoint. */
  readonly columns: SelectedColumns | null;
  /** The table with the joins of related rows. */
  readonly from: SqlText;
  readonly conditions: readonly Condition[];
  /** Whether there are related rows. */
  readonly readsOthers: boolean;
  /** The table with the joins that decide which rows there are, and the conditions, for the number of all rows. */
  readonly counted: Pick<LevelSql, 'from' | 'where'>;
  /** The values that its statements have of the request. */
  readonly texts: readonly TextValue[];
}

/** A selection without the values of a request. */
type CompiledSelection = Omit<Selection, 'texts'>;

/** The columns of a row in SQL, and what the response makes of them. */
interface SelectedColumns {
  readonly inner: LevelSql['columns'];
  /** The expressions over the rows `"page"`. */
  readonly outer: string;
  readonly result: readonly ResultColumn[];
}

/**
 * Returns what a request selects; null for one that selects the columns of the endpoint by conditions of single columns.
 * @throws ReadFault
 */
export function parseSelection(input: QueryInput, listing: Listing): Selection | null {
  const parameters = readParameters(input, listing);
  if (parameters === null) return null;
  const { endpoint } = input;
  const shape = readShape(parameters, listing.maxLimit);
  if (shape !== null) {
    const owner = { ...readTargetOf(endpoint), form: '' };
    const compiled = selections.find(owner, shape, (texts) => {
      const selection = compileSelection(endpoint, listing, { parameters, texts });
      return { compiled: selection, size: sizeOf(selection) };
    });
    if (compiled !== null) return { ...compiled, texts: shape.texts };
  }
  return { ...compileSelection(endpoint, listing, { parameters, texts: null }), texts: [] };
}

const selections = new ShapeCache<CompiledSelection>();

/** The characters of its SQL, which is made of parts. */
function sizeOf({ columns, from, counted }: CompiledSelection): number {
  return 2 * (from.size + counted.from.size) + (columns?.outer.length ?? 0);
}

interface SelectionParameters {
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  /** As in `parseReadQuery`. */
  readonly texts: TextValue[] | null;
}

function compileSelection(
  endpoint: Endpoint,
  listing: Listing,
  { parameters, texts }: SelectionParameters,
): CompiledSelection {
  const query = parseReadQuery(parameters, undefined, texts);
  const hasSelect = parameters.has('select');
  const items = hasSelect ? query.items : [];
  const { relation, model } = readTargetOf(endpoint);
  if (soleCount(relation, items) !== null) {
    throw syntaxFault('select', '"count" is not a column; "Prefer: count=exact" counts the rows');
  }
  const limits = { maxRows: listing.maxLimit, allowAggregates: false };
  const filters = query.levels.get('')?.filters ?? [];
  const build = (selected: readonly SelectItem[]): LevelSql => {
    const read = { model, relation, query: { ...query, items }, limits };
    const builder = new SelectBuilder(read);
    const outer = { ...builder.aliased(relation), alias: rowAlias };
    const source = new SqlText().addLazily(() => aliasedTable(endpoint), 'r');
    const parts = builder.level(outer, { items: selected, level: { ...emptyLevel, filters }, path: '' }, source);
    if (selected === items) builder.checkPaths();
    return parts;
  };
  const parts = build(items);
  return {
    columns: hasSelect ? selectColumns(endpoint, parts) : null,
    from: parts.from,
    conditions: parts.where,
    readsOthers: items.some(({ kind }) => kind === 'relation'),
    counted: build(decidingItems(query, filters)),
  };
}

/** Returns the parameters of the shared grammar by their names there; null without any. */
function readParameters(input: QueryInput, listing: Listing): ReadonlyMap<string, readonly string[]> | null {
  const select = readListingParameter(input, listing.select);
  const or = readListingParameter(input, listing.or);
  const and = readListingParameter(input, listing.and);
  if (select.value === null && or.value === null && and.value === null && input.paths.size === 0) return null;
  return new Map([
    ...(select.value === null ? [] : [['select', [select.value]] as const]),
    ...(or.value === null ? [] : [['or', listTexts(or.parameter, or.value)] as const]),
    ...(and.value === null ? [] : [['and', listTexts(and.parameter, and.value)] as const]),
    ...input.paths,
  ]);
}

/** The value of a repeatable parameter is a JSON array of its texts. */
function listTexts({ repeatable }: EndpointParameter, value: string): readonly string[] {
  return repeatable === true ? (JSON.parse(value) as (string | null)[]).map((text) => text ?? '') : [value];
}

/** Returns the related rows that decide which rows there are. */
function decidingItems({ items }: ReadQuery, filters: readonly Filter[]): readonly SelectItem[] {
  const named = new Set(namesOf(filters));
  return items.filter((item) => item.kind === 'relation' && (item.join === 'inner' || named.has(item.alias)));
}

function namesOf(filters: readonly Filter[]): readonly string[] {
  return filters.flatMap((filter) => (filter.kind === 'group' ? namesOf(filter.members) : [filter.field.column]));
}

/** @throws ReadFault without a column, and for two with one name */
function selectColumns(endpoint: Endpoint, { columns, names, forms }: LevelSql): SelectedColumns {
  if (names.length === 0) throw syntaxFault('select', 'a column or related table with columns is expected');
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw syntaxFault('select', `"${repeated}" appears twice; give one of them another name, as in other:${repeated}`);
  }
  const result = names.map((name, index) => toResultColumn(name, forms[index]!));
  const outer = result.map((column, index) =>
    typeof forms[index] === 'object'
      ? buildSelectList({ result: { kind: 'objects', columns: [column] }, raw: endpoint.raw }, '"page"')
      : derivedValue(`"page".${quoteIdentifier(column.name)}`, column),
  );
  return { inner: columns, outer: outer.join(', '), result };
}

function toResultColumn(name: string, form: ValueForm): ResultColumn {
  if (typeof form === 'object') return { name, key: name, type: form.type as NamedType };
  return { name, key: name, type: form === 'json' ? json : text };
}

/** Texts are those of JSON strings: times have the form of ISO 8601. */
function derivedValue(value: string, { type }: ResultColumn): string {
  const inJson = `pg_catalog.to_json(${value})`;
  return type.json === 'json' ? inJson : `(${inJson} operator(pg_catalog.#>>) '{}')`;
}

const json: NamedType = {
  sql: '"pg_catalog"."json"',
  display: 'json',
  oid: 114,
  baseOid: 114,
  kind: 'base',
  json: 'json',
  textual: false,
  builtin: 'json',
};

const text: NamedType = {
  sql: '"pg_catalog"."text"',
  display: 'text',
  oid: 25,
  baseOid: 25,
  kind: 'base',
  json: 'string',
  textual: true,
  builtin: 'text',
};
