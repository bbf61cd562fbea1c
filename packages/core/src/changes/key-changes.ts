import { tableKey } from '../catalog/table-name.ts';
import type { CommittedTransaction } from '../postgres/replication/committed-transaction.ts';

/** A key that changed between two cuts. */
export interface ChangedKey {
  readonly key: readonly (string | null)[];
  /** The whole replica identity of each change, for routing. */
  readonly identities: readonly (readonly (string | null)[])[];
  /** Whether the first change was an insert: the earlier cut has no row with the key. */
  readonly isNew: boolean;
  /** Whether the last change was a delete: the later cut has no row with the key. */
  readonly isGone: boolean;
  /** The positions of the first and last change in the cut. */
  readonly first: number;
  readonly last: number;
  readonly commitTime: string;
}

type MutableKey = { -readonly [Name in keyof ChangedKey]: ChangedKey[Name] } & {
  identities: (readonly (string | null)[])[];
};

/** The changes of one table between two cuts. */
export interface TableChanges {
  /** The columns of the replica identity. */
  readonly columns: readonly string[];
  /** In the order of their first change. Empty when the table was truncated or redefined. */
  readonly changes: readonly IdentityChange[];
  /** The commit that truncated it; null: none did. */
  readonly truncated: string | null;
  readonly isRedefined: boolean;
  /** Whether a transaction has changed more keys than the limit: its changes are missing. */
  readonly tooMany: boolean;
}

/** A change of the row that a replica identity belongs to. */
interface IdentityChange {
  readonly operation: 'insert' | 'update' | 'delete';
  readonly identity: readonly (string | null)[];
  /** The identity before; null: the same. */
  readonly oldIdentity: readonly (string | null)[] | null;
  readonly commitTime: string;
  readonly position: number;
}

/** Everything that the commits of one cut have changed, by what `tableKey` returns. */
export type CutChanges = ReadonlyMap<string, TableChanges>;

interface CollectedTable {
  columns: readonly string[];
  readonly changes: IdentityChange[];
  truncated: string | null;
  isRedefined: boolean;
  tooMany: boolean;
}

/** Collects the changes of transactions, in the order of their commits. */
export function collectChanges(transactions: readonly CommittedTransaction[]): CutChanges {
  const tables = new Map<string, CollectedTable>();
  /** Changes of one table have the same relation object for most of the time. */
  const byRelation = new Map<object, CollectedTable>();
  const tableOf = (relation: CommittedTransaction['redefined'][number]): CollectedTable => {
    const known = byRelation.get(relation);
    if (known !== undefined) return known;
    const key = tableKey(relation);
    let table = tables.get(key);
    if (table === undefined)
      tables.set(
        key,
        (table = { columns: relation.keyColumns, changes: [], truncated: null, isRedefined: false, tooMany: false }),
      );
    if (table.columns.join('\0') !== relation.keyColumns.join('\0')) table.isRedefined = true;
    byRelation.set(relation, table);
    return table;
  };
  let position = 0;
  for (const transaction of transactions) {
    const { commitTime } = transaction;
    for (const { relation, operation, key, oldKey = null } of transaction.changes)
      tableOf(relation).changes.push({
        operation,
        identity: key,
        oldIdentity: oldKey,
        commitTime,
        position: position++,
      });
    if (transaction.tooMany) for (const relation of transaction.relations) tableOf(relation).tooMany = true;
    for (const relation of transaction.truncated) tableOf(relation).truncated = commitTime;
    for (const relation of transaction.redefined) tableOf(relation).isRedefined = true;
  }
  return tables;
}

/**
 * Returns the changed keys of a table: an update that has changed the key is a delete and an insert.
 * @param indexes the positions of the columns of the key in the replica identity
 * @param mayRepeat whether a deferrable constraint allows a key to be inserted before the other row with it is deleted
 */
export function changedKeys(
  { changes }: Pick<TableChanges, 'changes'>,
  indexes: readonly number[],
  mayRepeat: boolean,
): readonly ChangedKey[] {
  const keys = new Map<string, MutableKey>();
  const record = (
    operation: 'insert' | 'update' | 'delete',
    identity: readonly (string | null)[],
    { commitTime, position }: IdentityChange,
  ): void => {
    const key = indexes.map((index) => identity[index] ?? null);
    const text = key.length === 1 ? String(key[0]) : JSON.stringify(key);
    const known = keys.get(text);
    const isGone = operation === 'delete' && !mayRepeat;
    if (known !== undefined) {
      known.isGone = isGone;
      known.last = position;
      known.commitTime = commitTime;
      known.identities.push(identity);
      return;
    }
    const isNew = operation === 'insert' && !mayRepeat;
    keys.set(text, { key, identities: [identity], isNew, isGone, first: position, last: position, commitTime });
  };
  for (const change of changes) {
    const { operation, identity, oldIdentity } = change;
    if (oldIdentity === null) record(operation, identity, change);
    else if (indexes.every((index) => oldIdentity[index] === identity[index])) {
      record('update', oldIdentity, change);
      record('update', identity, change);
    } else {
      record('delete', oldIdentity, change);
      record('insert', identity, change);
    }
  }
  return [...keys.values()];
}
