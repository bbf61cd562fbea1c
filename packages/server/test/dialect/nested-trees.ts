import {
  type ForeignKey,
  referenceRows,
  type Row,
  type Sample,
  type SampleColumn,
  type SampleTable,
} from './sample-rows.ts';

/* Trees of rows for a sample schema: a row, and the rows that reference it. */

/** A row to insert, without the columns of the foreign key to its outer row. */
export interface TreeRow {
  readonly table: SampleTable;
  readonly values: Record<string, unknown>;
  /** Those of each key, in the order of the keys in the body. */
  readonly related: Map<ForeignKey, { readonly table: SampleTable; readonly rows: TreeRow[] }>;
}

/** Returns a number from 0 to `max`. */
export type Pick = (max: number) => number;

export interface TreeOptions {
  readonly sample: Sample;
  readonly pick: Pick;
  /** Whether columns with a default are left out of some rows. */
  readonly leavesOut: boolean;
  /** Whether some rows have the primary key of a row that exists. */
  readonly merges: boolean;
  /** The column of each table that the role of the requests may not write. */
  readonly forbidden: ReadonlyMap<string, string>;
}

const maxDepth = 3;

/** Returns outer rows of one table with their related rows. */
export function createTrees(options: TreeOptions): readonly TreeRow[] {
  const { sample, pick } = options;
  const roots = sample.tables.filter((table) => childKeys(sample, table).length > 0);
  const root = roots[pick(roots.length - 1)]!;
  const builder = new TreeBuilder(options);
  return Array.from({ length: 1 + pick(2) }, () => builder.row(root, null, 1));
}

interface ChildKey {
  readonly table: SampleTable;
  readonly key: ForeignKey;
}

/**
 * The foreign keys that reference a table. The columns of other keys that share one with it are null, so that they reference nothing: a key
 * with another one whose columns must have values is left out.
 */
export function childKeys(sample: Sample, outer: SampleTable): readonly ChildKey[] {
  return sample.tables.flatMap((table) =>
    table.keys
      .filter(
        (key) =>
          key.target === outer.sql &&
          table.keys.every(
            (other) => other === key || !overlaps(key, other) || freeColumns(table, key, other) !== null,
          ),
      )
      .map((key) => ({ table, key })),
  );
}

const overlaps = (left: ForeignKey, right: ForeignKey): boolean =>
  left.columns.some((name) => right.columns.includes(name));

/** The columns of the other key that can be null; null: none. */
function freeColumns(table: SampleTable, key: ForeignKey, other: ForeignKey): readonly SampleColumn[] | null {
  const found = table.columns.filter(
    ({ name, notNull }) => other.columns.includes(name) && !key.columns.includes(name) && !notNull,
  );
  return found.length === 0 ? null : found;
}

class TreeBuilder {
  readonly #options: TreeOptions;
  /** The number of rows of each table, for other values in each row. */
  readonly #counts = new Map<string, number>();

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  row(table: SampleTable, outer: ForeignKey | null, depth: number): TreeRow {
    const { sample, pick } = this.#options;
    const values = this.#values(table, outer);
    const related: TreeRow['related'] = new Map();
    const keys = depth === maxDepth ? [] : childKeys(sample, table);
    // At most two kinds of related rows.
    const first = pick(Math.max(0, keys.length - 1));
    for (const { table: child, key } of keys.slice(first, first + 1 + pick(1))) {
      const count = key.isUnique ? 1 : pick(2);
      related.set(key, { table: child, rows: Array.from({ length: count }, () => this.row(child, key, depth + 1)) });
    }
    return { table, values, related };
  }

  #values(table: SampleTable, outer: ForeignKey | null): Record<string, unknown> {
    const { sample, pick, merges } = this.#options;
    const index = this.#counts.get(table.sql) ?? 0;
    this.#counts.set(table.sql, index + 1);
    const fixed = this.#fixedValues(table, outer, index);
    const columns = table.columns.filter((column) => this.#isWritten(table, column, outer));
    // Each row that exists is merged into once.
    const merged = merges && pick(1) === 1 ? (sample.seeds.get(table.sql)![index] ?? null) : null;
    const values: Record<string, unknown> = {};
    for (const column of columns) {
      const { name, isKey } = column;
      if (merged !== null && isKey) values[name] = merged[name];
      else if (fixed.has(name)) values[name] = fixed.get(name);
      else if (!this.#isLeftOut(column)) values[name] = this.#value(column, index);
    }
    return values;
  }

  /** The values of the other foreign keys. */
  #fixedValues(table: SampleTable, outer: ForeignKey | null, index: number): ReadonlyMap<string, unknown> {
    const own = table.keys.filter((key) => key !== outer);
    const shared = own.filter((key) => outer !== null && overlaps(key, outer));
    const keys = own.filter((key) => !shared.includes(key));
    const references = referenceRows({ ...table, keys }, this.#options.sample.seeds, index) ?? [];
    const empty = shared.flatMap((key) => freeColumns(table, outer!, key) ?? []);
    return new Map([...references, ...empty.map(({ name }) => [name, null] as const)]);
  }

  #isWritten(
    { sql }: SampleTable,
    { name, identity, isGenerated, isGiven, isKey }: SampleColumn,
    outer: ForeignKey | null,
  ): boolean {
    const { leavesOut, merges, forbidden, pick } = this.#options;
    if (isGenerated || identity === 'a' || forbidden.get(sql) === name || outer?.columns.includes(name) === true)
      return false;
    return !isGiven || (merges && isKey) || (leavesOut && pick(3) === 0);
  }

  #isLeftOut({ isKey, isStable, notNull, hasDefault }: SampleColumn): boolean {
    const { leavesOut, pick } = this.#options;
    return leavesOut && !isKey && isStable && (!notNull || hasDefault) && pick(2) === 0;
  }

  #value(column: SampleColumn, index: number): unknown {
    const { sample, pick } = this.#options;
    if (column.isUnique || column.isGiven)
      return column.isGiven ? 1000 + Number(sample.uniqueValue(column)) : sample.uniqueValue(column);
    if (!column.notNull && pick(4) === 0) return null;
    return sample.valueOf(column, index + pick(6));
  }
}

/** The name of related rows, and a hint. Tables of other schemas are known by the foreign key. */
function nameOf(outer: SampleTable, table: SampleTable, key: ForeignKey): readonly string[] {
  return outer.schema === table.schema ? [table.name, key.name] : [key.name];
}

export function toBody(trees: readonly TreeRow[]): readonly Row[] {
  return trees.map(({ table: outer, values, related }) => ({
    ...values,
    ...Object.fromEntries(
      [...related].map(([key, { table, rows }]) => {
        const body = toBody(rows);
        return [nameOf(outer, table, key).join('!'), key.isUnique ? body[0]! : body];
      }),
    ),
  }));
}

/** The insert of one row. */
export interface SingleInsert {
  readonly row: TreeRow;
  /** The JSON Pointer of the row in the body. */
  readonly pointer: string;
  readonly outer: { readonly insert: SingleInsert; readonly key: ForeignKey } | null;
}

/** The inserts of rows with one path of keys: those that a request with related rows makes in one statement. */
export type Level = SingleInsert[];

export function toLevels(trees: readonly TreeRow[]): readonly Level[] {
  const levels = new Map<string, Level>([['', []]]);
  const add = (insert: SingleInsert, path: string): void => {
    levels.get(path)!.push(insert);
    for (const [key, { table, rows }] of insert.row.related) {
      const name = nameOf(insert.row.table, table, key).join('!').replaceAll('~', '~0').replaceAll('/', '~1');
      const inner = `${path}/${name}`;
      if (!levels.has(inner)) levels.set(inner, []);
      for (const [index, row] of rows.entries()) {
        const pointer = `${insert.pointer}/${name}${key.isUnique ? '' : `/${index}`}`;
        add({ row, pointer, outer: { insert, key } }, inner);
      }
    }
  };
  for (const [index, row] of trees.entries()) add({ row, pointer: `/${index}`, outer: null }, '');
  return [...levels.values()];
}

/** Returns the value of `select` for the rows with their related rows; arrays of all of them for each key. */
export function toSelect(trees: readonly TreeRow[]): string {
  const quoted = (name: string): string => `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
  const inner = new Map<ForeignKey, { table: SampleTable; rows: TreeRow[] }>();
  for (const { related } of trees) {
    for (const [key, { table, rows }] of related)
      inner.set(key, { table, rows: [...(inner.get(key)?.rows ?? []), ...rows] });
  }
  const embedded = [...inner].map(
    ([key, { table, rows }], index) =>
      `r${index}:${nameOf(trees[0]!.table, table, key).map(quoted).join('!')}(${toSelect(rows)})`,
  );
  return ['*', ...embedded].join();
}
