import type { Worker } from 'node:worker_threads';
import type { ConnectionSettings } from '../connection-string.ts';
import { ConnectionLost } from '../port.ts';
import type { ChangedRelation, CommittedTransaction, KeyChange } from './committed-transaction.ts';
import { fromPlainError, type FromThread, type ReaderStart, toCloneable, type ToThread } from './reader-messages.ts';
import { startReaderThread } from './reader-program.ts';
import type { RelationKey } from './relation-definition.ts';
import { type CollectedTransaction, operations } from './transaction-collector.ts';
import { toError } from '../../to-error.ts';

export type { CommittedTransaction } from './committed-transaction.ts';

/** Reads the changes of a publication through logical replication. */
export interface ChangeReader {
  /** The name of its slot, which exists on the server of the reader only. */
  readonly slot: string;
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
  /** The keys of relations whose replica identity is FULL. Default: all of their columns. */
  readonly keys?: readonly RelationKey[];
  /** Ends an attempt to open the reader, which waits for all transactions that have written. */
  readonly signal?: AbortSignal;
  /** Receives the transactions in the order of their commits. */
  onTransaction(transaction: CommittedTransaction): void;
  /** Called once, unless the reader was closed: the connection was lost, or decoding has failed. Nothing is delivered afterwards. */
  onFailure(error: Error): void;
}

/**
 * Opens a connection with a temporary replication slot, in a thread. Resolves when the slot exists: transactions that commit later
 * are delivered. PostgreSQL waits until every open transaction that has written has ended.
 * @throws DatabaseError, ConnectionLost or ConnectionSetupError; the reason of the signal
 */
export async function openChangeReader(options: ChangeReaderOptions): Promise<ChangeReader> {
  const { signal } = options;
  signal?.throwIfAborted();
  const reader = new ThreadedReader(options);
  const abort = (): void => void reader.close();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await reader.opened;
    return reader;
  } catch (error) {
    await reader.close();
    throw signal?.aborted === true ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

interface Waiter {
  readonly lsn: bigint;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Milliseconds that the thread has to close its connection. */
const closeTimeoutMs = 8_000;
/** Mebibytes of the thread. Its buffers are bounded by the numbers of keys; this is for what is not expected. */
const maxThreadMemory = 512;

class ThreadedReader implements ChangeReader {
  readonly opened: Promise<void>;
  readonly #options: ChangeReaderOptions;
  readonly #thread: Worker;
  readonly #relations = new Map<number, ChangedRelation>();
  readonly #opening: { readonly resolve: () => void; readonly reject: (error: Error) => void };
  #waiters: Waiter[] = [];
  #slot = '';
  #position = 0n;
  #walPageSize = 0n;
  #state: 'opening' | 'open' | 'failed' | 'closed' = 'opening';
  #closing: Promise<void> | null = null;
  readonly #exited: Promise<void>;

  constructor(options: ChangeReaderOptions) {
    this.#options = options;
    const { publication, maxKeys, keys = [] } = options;
    const { promise, ...opening } = createDeferred();
    this.opened = promise;
    this.#opening = opening;
    const start: ReaderStart = { ...toCloneable(options.connection), publication, maxKeys, keys };
    this.#thread = startReaderThread({
      workerData: start,
      name: 'pgway changes',
      resourceLimits: { maxOldGenerationSizeMb: maxThreadMemory },
    });
    this.#exited = new Promise((resolve) => this.#thread.once('exit', () => resolve()));
    this.#thread.on('message', (message: FromThread) => this.#receive(message));
    this.#thread.on('error', (error) => this.#fail(new ConnectionLost(`the thread has failed: ${String(error)}`)));
    this.#thread.once('exit', () => this.#fail(new ConnectionLost('the thread has ended')));
  }

  get slot(): string {
    return this.#slot;
  }

  get position(): bigint {
    return this.#position;
  }

  reach(lsn: bigint): Promise<void> {
    if (this.#state !== 'open') return Promise.reject(new ConnectionLost('the reader of changes has ended'));
    const target = recordEnd(lsn, this.#walPageSize);
    if (target <= this.#position) return Promise.resolve();
    this.#tell({ kind: 'reach', lsn: target });
    return new Promise((resolve, reject) => this.#waiters.push({ lsn: target, resolve, reject }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end('closed', new ConnectionLost('the reader of changes was closed'));
    this.#tell({ kind: 'close' });
    const timer = setTimeout(() => void this.#thread.terminate(), closeTimeoutMs);
    await this.#exited;
    clearTimeout(timer);
  }

  #tell(message: ToThread): void {
    this.#thread.postMessage(message);
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'opened':
        this.#slot = message.slot;
        this.#position = message.position;
        this.#walPageSize = BigInt(message.walPageSize);
        if (this.#state === 'opening') this.#state = 'open';
        return this.#opening.resolve();
      case 'changes':
        return this.#deliver(message);
      case 'failed':
        return this.#fail(fromPlainError(message.error));
      case 'closed':
        return void this.#thread.terminate();
    }
  }

  #deliver({ transactions, definitions, position, weight }: Extract<FromThread, { kind: 'changes' }>): void {
    for (const { serial, relation } of definitions) this.#relations.set(serial, relation);
    for (const transaction of transactions) {
      if (this.#state !== 'open') return;
      try {
        this.#options.onTransaction(this.#toCommitted(transaction));
      } catch (error) {
        return this.#fail(toError(error));
      }
    }
    this.#position = position;
    this.#tell({ kind: 'handled', weight });
    const reached = this.#waiters.filter(({ lsn }) => lsn <= position);
    if (reached.length === 0) return;
    this.#waiters = this.#waiters.filter(({ lsn }) => lsn > position);
    for (const { resolve } of reached) resolve();
  }

  #toCommitted(transaction: CollectedTransaction): CommittedTransaction {
    const { xid, commitLsn, commitTime, tooMany } = transaction;
    const toRelations = (serials: readonly number[]): readonly ChangedRelation[] =>
      serials.map((serial) => this.#relations.get(serial)!);
    return {
      xid,
      commitLsn,
      commitTime: formatTime(commitTime),
      changes: this.#toChanges(transaction),
      tooMany,
      relations: toRelations(transaction.relations),
      truncated: toRelations(transaction.truncated),
      redefined: toRelations(transaction.redefined),
    };
  }

  #toChanges({ codes, values }: CollectedTransaction): readonly KeyChange[] {
    let position = 0;
    return codes.map((code) => {
      const relation = this.#relations.get(Math.floor(code / 8))!;
      const operation = operations[(code % 8) >> 1]!;
      const { length } = relation.keyColumns;
      const key = values.slice(position, (position += length));
      if (code % 2 === 0) return { relation, operation, key };
      return { relation, operation, key, oldKey: values.slice(position, (position += length)) };
    });
  }

  #fail(error: Error): void {
    const before = this.#state;
    if (before !== 'opening' && before !== 'open') return;
    this.#end('failed', error);
    // The slot must not hold the log of the server.
    void this.close();
    if (before === 'open') this.#options.onFailure(error);
  }

  #end(state: 'failed' | 'closed', error: Error): void {
    if (this.#state !== 'failed') this.#state = state;
    this.#opening.reject(error);
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters = [];
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function createDeferred(): Deferred {
  let settle: Omit<Deferred, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  promise.catch(() => undefined);
  return { promise, ...settle! };
}

/** Bytes of the longest header of a page of the log. */
const pageHeaderSize = 40n;

/** Returns the end of the last record before an insert position, which may be behind the header of a page that has no record yet. */
function recordEnd(lsn: bigint, pageSize: bigint): bigint {
  const inPage = lsn % pageSize;
  return inPage > pageHeaderSize ? lsn : lsn - inPage;
}

/** Milliseconds from 1970-01-01 to 2000-01-01. */
const epochMs = 946_684_800_000;

/** @param time microseconds since 2000-01-01 */
function formatTime(time: bigint): string {
  const seconds = time / 1_000_000n;
  const micros = Number(time % 1_000_000n);
  return new Date(epochMs + Number(seconds) * 1000).toISOString().slice(0, 20) + String(micros).padStart(6, '0') + 'Z';
}
