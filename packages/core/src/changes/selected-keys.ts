import { createHash } from 'node:crypto';
import type { ChangeQuery } from '../ports/changes.ts';
import { arrayLiteral } from '../postgres/literal.ts';
import { type DifferenceOptions, listDifferences, type UnnumberedChange } from './differences.ts';
import type { ChangedKey } from './key-changes.ts';
import type { CollectedRow, RowCollector } from './row-collector.ts';

/** The rows that a caller sees, by their key. */
export type VisibleRows = ReadonlyMap<ChangedKey, CollectedRow>;

export const noRows: VisibleRows = new Map();

interface KnownRows {
  readonly bytes: Buffer;
  readonly rows: VisibleRows;
}

interface KnownDifferences {
  readonly before: VisibleRows;
  readonly options: string;
  readonly changes: readonly UnnumberedChange[];
}

/** Different results of one length. Each is compared with the next one. */
const maxOfLength = 8;

/** Keys that are looked up in one snapshot, and the rows that callers see there: those of many callers are the same. */
export class KeyList {
  readonly keys: readonly ChangedKey[];
  #literals: readonly string[] | null = null;
  /** By the shape of the query and the number of bytes. */
  readonly #known = new Map<string, KnownRows[]>();

  constructor(keys: readonly ChangedKey[]) {
    this.keys = keys;
  }

  /** Returns an array for each column of the key. @param count the number of columns */
  literals(count: number): readonly string[] {
    return (this.#literals ??= Array.from({ length: count }, (_, index) =>
      arrayLiteral(this.keys.map(({ key }) => key[index] ?? null)),
    ));
  }

  /** Returns the rows of a lookup: one object for all callers to whom PostgreSQL has sent the same bytes. @throws the error of a writer */
  rowsOf(query: ChangeQuery, collector: RowCollector): VisibleRows {
    const { bytes } = collector;
    if (bytes.length === 0) return noRows;
    const name = `${shapeOf(query)} ${bytes.length}`;
    let known = this.#known.get(name);
    if (known === undefined) this.#known.set(name, (known = []));
    const same = known.find((other) => other.bytes.equals(bytes));
    if (same !== undefined) {
      collector.release();
      return same.rows;
    }
    const copy = Buffer.from(bytes);
    const rows = new Map<ChangedKey, CollectedRow>();
    for (const [number, row] of collector.take()) rows.set(this.keys[number - 1]!, row);
    if (known.length === maxOfLength) known.shift();
    known.push({ bytes: copy, rows });
    return rows;
  }
}

/** The keys that groups look up in a cut, and the differences between what their callers see. */
export class SelectedKeys {
  readonly keys: readonly ChangedKey[];
  #sorted: readonly ChangedKey[] | null = null;
  readonly #before = new Map<boolean, KeyList>();
  #after: KeyList | null = null;
  /** By the rows after the cut. */
  readonly #known = new Map<VisibleRows, KnownDifferences[]>();

  constructor(keys: readonly ChangedKey[]) {
    this.keys = keys;
  }

  /** PostgreSQL looks up adjacent keys of an index faster one after the other: thousands of keys of a large table take two thirds of the time. */
  get #inOrder(): readonly ChangedKey[] {
    return (this.#sorted ??= this.keys.toSorted(compareKeys));
  }

  /** Returns the keys that the earlier snapshot may have. @param withDeleted whether those that the later one lacks are of interest */
  before(withDeleted: boolean): KeyList {
    let list = this.#before.get(withDeleted);
    if (list === undefined) {
      list = new KeyList(this.#inOrder.filter(({ isNew, isGone }) => !isNew && (!isGone || withDeleted)));
      this.#before.set(withDeleted, list);
    }
    return list;
  }

  /** Returns the keys that the later snapshot may have. */
  after(): KeyList {
    return (this.#after ??= new KeyList(this.#inOrder.filter(({ isGone }) => !isGone)));
  }

  /** Returns the differences: one list for all callers with the same rows and options. */
  differences(before: VisibleRows, after: VisibleRows, options: DifferenceOptions): readonly UnnumberedChange[] {
    const { operations, withOld, withUnchanged } = options;
    const name = JSON.stringify([operations, withOld, withUnchanged]);
    let known = this.#known.get(after);
    if (known === undefined) this.#known.set(after, (known = []));
    const same = known.find((other) => other.before === before && other.options === name);
    if (same !== undefined) return same.changes;
    const changes = listDifferences(this.keys, before, after, options);
    known.push({ before, options: name, changes });
    return changes;
  }
}

/** Compares keys as most indexes do: numbers by their value if both are positive, and texts of one length. */
function compareKeys({ key: left }: ChangedKey, { key: right }: ChangedKey): number {
  for (let index = 0; index < left.length; index++) {
    const [one, other] = [left[index] ?? '', right[index] ?? ''];
    if (one !== other) return one.length - other.length || (one < other ? -1 : 1);
  }
  return 0;
}

const shapes = new WeakMap<ChangeQuery, string>();

/** Returns what decides how the bytes of a row are written. Queries of other processes have columns of their own. */
function shapeOf(query: ChangeQuery): string {
  let shape = shapes.get(query);
  if (shape === undefined) {
    const { sql, keys, columns } = query;
    shape = createHash('sha256')
      .update(JSON.stringify([sql, keys, columns]))
      .digest('base64');
    shapes.set(query, shape);
  }
  return shape;
}
