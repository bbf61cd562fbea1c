import type { ChangeOperation, RowChange } from '../ports/changes.ts';
import type { ChangedKey } from './key-changes.ts';
import type { CollectedRow } from './row-collector.ts';

/** A change without its id. */
export type UnnumberedChange = Omit<RowChange, 'id'>;

export interface DifferenceOptions {
  readonly operations: readonly ChangeOperation[];
  readonly withOld: boolean;
  readonly withUnchanged: boolean;
}

interface OrderedChange {
  readonly order: number;
  readonly change: UnnumberedChange;
}

/**
 * Returns the differences between the rows of two snapshots: inserts and updates in the order of the first change of their keys, deletes in
 * that of the last one.
 * @param before the rows by the position of their key in `keys`
 */
export function listDifferences(
  keys: readonly ChangedKey[],
  before: ReadonlyMap<ChangedKey, CollectedRow>,
  after: ReadonlyMap<ChangedKey, CollectedRow>,
  { operations, withOld, withUnchanged }: DifferenceOptions,
): readonly UnnumberedChange[] {
  const found: OrderedChange[] = [];
  const add = (
    operation: ChangeOperation,
    key: ChangedKey,
    record: Uint8Array | null,
    old: Uint8Array | null,
  ): void => {
    if (!operations.includes(operation)) return;
    const order = operation === 'delete' ? key.last : key.first;
    found.push({ order, change: { operation, commitTimestamp: key.commitTime, record, old } });
  };
  for (const key of keys) {
    const [old, row] = [before.get(key), after.get(key)];
    if (old === undefined && row !== undefined) add('insert', key, row.record, null);
    else if (old !== undefined && row === undefined) add('delete', key, null, copy(withOld ? old.record : old.key));
    else if (old !== undefined && row !== undefined && (withUnchanged || !areEqual(old.record, row.record)))
      add('update', key, row.record, withOld ? copy(old.record) : null);
  }
  return found.toSorted((left, right) => left.order - right.order).map(({ change }) => change);
}

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** The events would keep all rows of the earlier snapshot in memory. */
function copy(bytes: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes);
}
