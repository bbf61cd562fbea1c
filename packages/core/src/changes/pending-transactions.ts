import type { CommittedTransaction } from '../postgres/replication/committed-transaction.ts';
import { isVisible, type SnapshotVisibility } from './snapshot-visibility.ts';

/** Committed transactions that are part of no cut yet, in the order of the log. */
export class PendingTransactions {
  readonly #maxKeys: number;
  #transactions: CommittedTransaction[] = [];
  #keys = 0;

  /** @param maxKeys the most keys of all transactions; beyond it, they count as transactions with too many changes */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get isEmpty(): boolean {
    return this.#transactions.length === 0;
  }

  get size(): number {
    return this.#transactions.length;
  }

  add(transaction: CommittedTransaction): void {
    // A transaction without changes of published tables.
    if (transaction.relations.length === 0 && transaction.redefined.length === 0) return;
    this.#transactions.push(transaction);
    this.#keys += transaction.changes.length;
    if (this.#keys <= this.#maxKeys) return;
    this.#transactions = this.#transactions.map((pending) => ({ ...pending, changes: [], tooMany: true }));
    this.#keys = 0;
  }

  /** Removes and returns the transactions that a snapshot shows. Their order in the log is not that in which they became visible. */
  take(visibility: SnapshotVisibility): readonly CommittedTransaction[] {
    const visible: CommittedTransaction[] = [];
    const others: CommittedTransaction[] = [];
    for (const transaction of this.#transactions) {
      if (isVisible(transaction.xid, visibility)) visible.push(transaction);
      else others.push(transaction);
    }
    this.#transactions = others;
    this.#keys = others.reduce((sum, { changes }) => sum + changes.length, 0);
    return visible;
  }

  clear(): void {
    this.#transactions = [];
    this.#keys = 0;
  }
}
