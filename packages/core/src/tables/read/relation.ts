import type { RelationColumn } from './representations.ts';

/** A table or view that requests can read. */
export interface Relation {
  readonly schema: string;
  readonly name: string;
  readonly columns: ReadonlyMap<string, RelationColumn>;
  /** The keys of the columns in requests and responses. Absent: their names. */
  readonly keys?: ColumnKeys;
}

export interface ColumnKeys {
  /** By the name of the column. */
  readonly byName: ReadonlyMap<string, string>;
  /** The names of columns by their key. */
  readonly names: ReadonlyMap<string, string>;
}

export function relationKey({ schema, name }: Pick<Relation, 'schema' | 'name'>): string {
  return JSON.stringify([schema, name]);
}

/** Returns the column with a key or name; undefined for none. */
export function findColumn(
  { columns, keys }: Pick<Relation, 'columns' | 'keys'>,
  name: string,
): RelationColumn | undefined {
  return columns.get(keys?.names.get(name) ?? name);
}

/** Returns the member of a response that has the value of a column. */
export function columnKey({ keys }: Pick<Relation, 'keys'>, name: string): string {
  return keys?.byName.get(name) ?? name;
}
