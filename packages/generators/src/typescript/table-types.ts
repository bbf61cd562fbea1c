/** Types of the typed client of tables. */
import type { DescribedColumn, DescribedTable } from '@pgway/core/internal';
import { escapeLine, stringLiteral } from '../source-text.ts';
import { escapeComment } from './comment-block.ts';
import { memberText, type TypeContext, typeText } from './type-text.ts';

/** A table with its name in the client. */
export interface ClientTable {
  readonly key: string;
  readonly table: DescribedTable;
  /** The relations to tables of the client, whose names they have. */
  readonly relations: readonly {
    readonly name: string;
    readonly selector: string;
    readonly target: string;
    readonly rows: string;
  }[];
}

/** Names the tables: the first schema with a name has the name alone, others are `schema.name`. */
export function clientTables(tables: readonly DescribedTable[]): readonly ClientTable[] {
  const keys = new Map<string, DescribedTable>();
  for (const table of tables) {
    const preferred = keys.has(table.name) ? `${table.schema}.${table.name}` : table.name;
    let key = preferred;
    for (let number = 2; keys.has(key); number++) key = `${preferred}_${number}`;
    keys.set(key, table);
  }
  const keyOf = new Map([...keys].map(([key, { schema, name }]) => [JSON.stringify([schema, name]), key]));
  return [...keys].map(([key, table]) => ({
    key,
    table,
    relations: table.relations.flatMap(({ name, selector, target, rows }) => {
      const other = keyOf.get(JSON.stringify([target.schema, target.name]));
      return other === undefined ? [] : [{ name, selector, target: other, rows }];
    }),
  }));
}

const actions = { GET: ['select', 'first', 'count'], PATCH: ['update'], DELETE: ['delete'] } as const;

/** The methods of the client that a table has. */
export function actionsOf({ methods, conflictActions }: DescribedTable): readonly string[] {
  return [
    ...(methods.includes('GET') ? actions.GET : []),
    ...(methods.includes('POST') ? ['insert', ...(conflictActions.length === 0 ? [] : ['upsert'])] : []),
    ...(methods.includes('PATCH') ? actions.PATCH : []),
    ...(methods.includes('DELETE') ? actions.DELETE : []),
  ];
}

/** Returns the interface of all tables. */
export function tablesText(tables: readonly ClientTable[], jsonType: string): string {
  return `/** The tables and views: their rows, what writes take, and the ways to related rows. */
export interface ITables {
${tables.map((table) => tableText(table, jsonType)).join('')}}`;
}

function tableText({ key, table, relations }: ClientTable, jsonType: string): string {
  const row: TypeContext = { position: 'response', jsonType, parseBigints: false };
  const body: TypeContext = { ...row, position: 'request' };
  const written = table.columns.filter(({ writable }) => writable);
  const members = (
    columns: readonly DescribedColumn[],
    context: TypeContext,
    isOptional: (column: DescribedColumn) => boolean,
  ): string =>
    object(
      columns.map((column) => ({ key: column.name, type: columnType(column, context), optional: isOptional(column) })),
    );
  const related = relations.map(({ name, target, rows }) => ({
    key: name,
    type: `{ table: ${stringLiteral(target)}; rows: ${stringLiteral(rows)} }`,
    optional: false,
  }));
  const computed = table.computed.map(({ name, type }) => ({
    key: name,
    type: `${typeText(type, row)} | null`,
    optional: false,
  }));
  const parts = [
    `row: ${members(table.columns, row, () => false)}`,
    `computed: ${object(computed)}`,
    `insert: ${members(written, body, ({ required }) => !required)}`,
    `update: ${members(written, body, () => true)}`,
    `relations: ${object(related)}`,
    `methods: ${actionsOf(table).map(stringLiteral).join(' | ') || 'never'}`,
  ];
  const description = escapeComment(escapeLine(table.description));
  const comment = description === '' ? '' : `  /** ${description} */\n`;
  return `${comment}  ${memberText({ key, type: `{\n${parts.map((part) => `    ${part};\n`).join('')}  }`, optional: false })};\n`;
}

function columnType({ type, notNull }: DescribedColumn, context: TypeContext): string {
  return `${typeText(type, context)}${notNull ? '' : ' | null'}`;
}

function object(members: readonly Parameters<typeof memberText>[0][]): string {
  return members.length === 0 ? '{}' : `{ ${members.map(memberText).join('; ')} }`;
}

/** The types of requests and results, which are the same for all tables. */
export const queryTypes = `type _Table = keyof ITables;
type _All<T extends _Table> = ITables[T]["row"] & ITables[T]["computed"];
type _Relations<T extends _Table> = ITables[T]["relations"];
type _Target<R> = R extends { table: infer N extends _Table } ? N : never;
type _Flat<T> = { [K in keyof T]: T[K] };

/** Operators of a condition. \`search\` has the syntax of web searches. */
export interface IOperators<V> {
  readonly eq?: V | null;
  readonly neq?: V | null;
  readonly gt?: V;
  readonly gte?: V;
  readonly lt?: V;
  readonly lte?: V;
  readonly in?: readonly V[];
  /** Patterns: \`%\` or \`*\` is any text. */
  readonly like?: string;
  readonly ilike?: string;
  /** A regular expression. */
  readonly match?: string;
  readonly contains?: unknown;
  readonly containedBy?: unknown;
  readonly overlaps?: unknown;
  readonly search?: string;
}

/** A value, or operators, all of which have to be true; those in \`not\` have to be false. */
export type ICondition<V> =
  | (V extends string ? V | Date : V)
  | (IOperators<V extends string ? V | Date : V> & { readonly not?: IOperators<V extends string ? V | Date : V> });
type _Conditions<T extends _Table> = { readonly [K in keyof _All<T>]?: ICondition<NonNullable<_All<T>[K]>> | null };

/** All conditions of an object are true; of a list of objects, at least one is. */
export type IWhere<T extends _Table> = _Conditions<T> | readonly _Conditions<T>[];

export type IOrder<C> = C | { readonly column: C; readonly descending?: boolean; readonly nulls?: "first" | "last" };

/** The columns of the result, all by default, and related rows. */
export interface ISelection<T extends _Table> {
  readonly columns?: readonly (keyof _All<T>)[];
  readonly with?: { readonly [R in keyof _Relations<T>]?: true | IQuery<_Target<_Relations<T>[R]>> };
}

export interface IQuery<T extends _Table> extends ISelection<T> {
  readonly where?: IWhere<T>;
  readonly order?: readonly IOrder<keyof _All<T>>[];
  readonly limit?: number;
  readonly offset?: number;
}

type _Rows<R, Q> = R extends { table: infer N extends _Table; rows: infer M }
  ? M extends "many" ? IRow<N, Q>[] : M extends "one" ? IRow<N, Q> : IRow<N, Q> | null
  : never;

/** The row that a query returns. */
export type IRow<T extends _Table, Q> = _Flat<
  (Q extends { readonly columns: readonly (infer C)[] } ? Pick<_All<T>, C & keyof _All<T>> : ITables[T]["row"]) &
    (Q extends { readonly with: infer W } ? { -readonly [K in keyof W & keyof _Relations<T>]: _Rows<_Relations<T>[K], W[K]> } : unknown)
>;

type _Where<W, C> = W extends readonly unknown[]
  ? { [I in keyof W]: _Where<W[I], C> }
  : { [K in keyof W]: K extends keyof C ? C[K] : never };

/** Refuses members that a query does not have, at any depth. */
type _Exact<T extends _Table, Q, Shape> = {
  [K in keyof Q]: K extends keyof Shape
    ? K extends "with"
      ? { [R in keyof Q[K]]: R extends keyof _Relations<T>
          ? Q[K][R] extends true ? true : _Exact<_Target<_Relations<T>[R]>, Q[K][R], IQuery<_Target<_Relations<T>[R]>>>
          : never }
      : K extends "where" ? _Where<Q[K], _Conditions<T>>
      : K extends "returning" ? (Q[K] extends true ? true : _Exact<T, Q[K], ISelection<T>>)
      : Shape[K]
    : never;
};

/** The rows that a write returns; absent: none. */
export interface IReturning<T extends _Table> {
  readonly returning?: true | ISelection<T>;
}

type _Returned<T extends _Table, Q> = Q extends { readonly returning: infer R } ? IRow<T, R>[] : void;

export interface IUpsert<T extends _Table> extends IReturning<T> {
  /** The columns of the unique constraint; by default the primary key. */
  readonly onConflict?: readonly (keyof ITables[T]["row"])[];
  /** Leaves rows that exist as they are. */
  readonly ignoreDuplicates?: boolean;
}

export interface IUpdate<T extends _Table> extends IReturning<T> {
  readonly set: ITables[T]["update"];
  readonly where: IWhere<T>;
}

export interface IDelete<T extends _Table> extends IReturning<T> {
  readonly where: IWhere<T>;
}

export interface ITableOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Record<string, string> | undefined;
}

/** A failed request. Its members are those of the response: \`code\` is an SQLSTATE or a code of the gateway. */
export interface ITableProblem {
  readonly code?: string;
  readonly message: string;
  readonly details?: unknown;
  readonly hint?: string | null;
}

type _Insert<T extends _Table> = ITables[T]["insert"];

export interface ITable<T extends _Table> {
  select<const Q extends IQuery<T> = {}>(query?: Q & _Exact<T, Q, IQuery<T>>, options?: ITableOptions): Promise<IRow<T, Q>[]>;
  /** The first row; null without one. */
  first<const Q extends IQuery<T> = {}>(query?: Q & _Exact<T, Q, IQuery<T>>, options?: ITableOptions): Promise<IRow<T, Q> | null>;
  /** The number of rows. */
  count(query?: { readonly where?: IWhere<T> }, options?: ITableOptions): Promise<number>;
  insert<const Q extends IReturning<T> = {}>(rows: _Insert<T> | readonly _Insert<T>[], query?: Q & _Exact<T, Q, IReturning<T>>, options?: ITableOptions): Promise<_Returned<T, Q>>;
  upsert<const Q extends IUpsert<T> = {}>(rows: _Insert<T> | readonly _Insert<T>[], query?: Q & _Exact<T, Q, IUpsert<T>>, options?: ITableOptions): Promise<_Returned<T, Q>>;
  update<const Q extends IUpdate<T>>(query: Q & _Exact<T, Q, IUpdate<T>>, options?: ITableOptions): Promise<_Returned<T, Q>>;
  delete<const Q extends IDelete<T>>(query: Q & _Exact<T, Q, IDelete<T>>, options?: ITableOptions): Promise<_Returned<T, Q>>;
}`;

/** Returns the type of the client. @param streams the tables with a stream of row changes */
export function databaseType(streams: readonly { readonly key: string; readonly name: string }[]): string {
  const methods = 'Pick<ITable<T>, ITables[T]["methods"] & keyof ITable<T>>';
  if (streams.length === 0) return `export type IDatabase = { readonly [T in _Table]: ${methods} };`;
  const members = streams.map(({ key, name }) =>
    memberText({ key, type: `{ readonly changes: typeof ${name} }`, optional: false }),
  );
  return `/** The changes of the rows of tables, with the filters and rows of the functions for tables. */
interface _Streams {
${members.map((member) => `  ${member};\n`).join('')}}

export type IDatabase = {
  readonly [T in _Table]: ${methods} & (T extends keyof _Streams ? _Streams[T] : unknown);
};`;
}
