/** A request to read, as its query string describes it. Names are those of the client, and not yet compared with the catalog. */

import type { TextValue } from '../parts/request-value.ts';

/** A step into a JSON value: `->key` gives JSON, `->>key` gives text. */
export interface JsonStep {
  readonly gives: 'json' | 'text';
  /** A key of an object, or an index of an array. */
  readonly key: string;
}

/** A column, or a value in a JSON column. */
export interface Field {
  readonly column: string;
  readonly path: readonly JsonStep[];
  /** Its place in the text of its parameter; absent: the name of the parameter. */
  readonly position?: number;
}

export type SelectItem = SelectedColumn | SelectedRelation | { readonly kind: 'all' } | SelectedAggregate;

export interface SelectedColumn {
  readonly kind: 'column';
  readonly field: Field;
  /** The member of the result. */
  readonly name: string;
  readonly cast: string | null;
}

export const aggregateFunctions = ['avg', 'count', 'max', 'min', 'sum'] as const;

export type AggregateFunction = (typeof aggregateFunctions)[number];

/** A value of all rows, or of those with the same values in the other columns: `amount.sum()`, `count()`. */
export interface SelectedAggregate {
  readonly kind: 'aggregate';
  readonly function: AggregateFunction;
  /** The values, with their cast; null: the rows. */
  readonly argument: Pick<SelectedColumn, 'field' | 'cast'> | null;
  /** The member of the result. */
  readonly name: string;
  readonly cast: string | null;
}

/** Related rows: `author(name)`. */
export interface SelectedRelation {
  readonly kind: 'relation';
  /** The name of a table, of a foreign key, or of its column. */
  readonly name: string;
  /** The member of the result; by default, the name. */
  readonly alias: string;
  /** The name of a foreign key, of its column, or of a junction table. */
  readonly hint: string | null;
  /** `inner` leaves out rows without related rows. */
  readonly join: 'left' | 'inner';
  /** Whether the columns become members of the outer object: `...author(name)`. */
  readonly spread: boolean;
  /** Whether lists of several rows have each value once, without NULL: `..author(name)`. */
  readonly distinct: boolean;
  /** Whether the aggregates of its columns are those of an outer relation. */
  readonly isAggregated?: boolean;
  /** The place of its name in the text of its parameter. */
  readonly position?: number;
  readonly items: readonly SelectItem[];
}

export type Filter = FilterGroup | FieldFilter;

export interface FilterGroup {
  readonly kind: 'group';
  readonly operator: 'and' | 'or';
  readonly negated: boolean;
  readonly members: readonly Filter[];
}

export interface FieldFilter {
  readonly kind: 'condition';
  /** The parameter of the query string. */
  readonly parameter: string;
  readonly field: Field;
  readonly negated: boolean;
  readonly operator: FilterOperator;
  /** `any` and `all` compare with the elements of an array. */
  readonly quantifier: 'any' | 'all' | null;
  /** The configuration of a full-text search. */
  readonly language: string | null;
  readonly value: TextValue;
  /** The index of the value among those of the request; absent: the statement is for one request, or the value is part of its text. */
  readonly valueIndex?: number;
}

/** Whether the value of a filter decides about the text of its statement. */
export function isPartOfShape({ operator }: Pick<FieldFilter, 'operator'>): boolean {
  return operator === 'is';
}

export const filterOperators = [
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'like',
  'ilike',
  'match',
  'imatch',
  'in',
  'is',
  'isdistinct',
  'cs',
  'cd',
  'ov',
  'sl',
  'sr',
  'nxr',
  'nxl',
  'adj',
  'fts',
  'plfts',
  'phfts',
  'wfts',
] as const;

export type FilterOperator = (typeof filterOperators)[number];

export interface OrderTerm {
  /** The related row that has the field; null: the row itself. */
  readonly relation: string | null;
  readonly field: Field;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last' | null;
}

/** What a request says of the rows of one relation. */
export interface Level {
  readonly filters: readonly Filter[];
  readonly order: readonly OrderTerm[];
  /** Null: not given. */
  readonly limit: number | null;
  readonly offset: number;
  /** The indexes of the numbers among the values of the request; absent: the statement is for one request. */
  readonly limitIndex?: number;
  readonly offsetIndex?: number;
}

export const emptyLevel: Level = { filters: [], order: [], limit: null, offset: 0 };

export interface ReadQuery {
  readonly items: readonly SelectItem[];
  /** By the path of aliases or names from the outer relation, such as `author.books`; '' for the outer relation. */
  readonly levels: ReadonlyMap<string, Level>;
}

/** Returns the names of columns and relations that filters compare. */
export function filteredNames(filters: readonly Filter[]): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (filter: Filter): void => {
    if (filter.kind === 'group') filter.members.forEach(add);
    else names.add(filter.field.column);
  };
  filters.forEach(add);
  return names;
}

export function isSameField(left: Field, right: Field): boolean {
  if (left.column !== right.column || left.path.length !== right.path.length) return false;
  return left.path.every(
    ({ gives, key }, index) => gives === right.path[index]!.gives && key === right.path[index]!.key,
  );
}
