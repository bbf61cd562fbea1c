import type { ConnectionSettings } from '../connection-string.ts';
import type { CommittedTransaction } from './committed-transaction.ts';

export type { ChangedRelation, CommittedTransaction, KeyChange } from './committed-transaction.ts';

/** Reads the changes of a publication through logical replication. */
export interface ChangeReader {
  /** Everything that was committed up to this position has been delivered. */
  readonly position: bigint;
  /**
   * Resolves when the position has reached `lsn`, the end of a record or the insert position of the log. The log up to there must be
   * flushed, or be flushed soon. Rejects when the reader has failed or was closed.
   */
  reach(lsn: bigint): Promise<void>;
  /** Closes the connection. PostgreSQL has dropped the slot when the promise resolves. Further calls return the same promise. */
  close(): Promise<void>;
}

export interface ChangeReaderOptions {
  readonly connection: ConnectionSettings;
  /** The name of an existing publication. */
  readonly publication: string;
  /** The maximum number of keys of one transaction; beyond it `tooMany` is set. */
  readonly maxKeys: number;
  /** Ends an attempt to open the reader, which waits for all transactions that have written. */
  readonly signal?: AbortSignal;
  /** Receives the transactions in the order of their commits. */
  onTransaction(transaction: CommittedTransaction): void;
  /** Called once, unless the reader was closed: the connection was lost, or decoding has failed. Nothing is delivered afterwards. */
  onFailure(error: Error): void;
}

/**
 * Opens a connection with a temporary replication slot. Resolves when the slot exists: transactions that commit later are delivered.
 * PostgreSQL waits until every open transaction that has written has ended.
 * @throws DatabaseError, ConnectionLost or ConnectionSetupError; the reason of the signal
 */
export function openChangeReader(_options: ChangeReaderOptions): Promise<ChangeReader> {
  return Promise.reject(new Error('not implemented'));
}
