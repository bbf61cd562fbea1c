import type { ChangeReader } from '../postgres/replication/change-reader.ts';
import type { CommittedTransaction } from '../postgres/replication/committed-transaction.ts';
import { toError } from '../to-error.ts';

export interface ChangeReaderEvents {
  onTransaction(transaction: CommittedTransaction): void;
  onFailure(error: Error): void;
}

export type OpenReader = (events: ChangeReaderEvents, signal: AbortSignal) => Promise<ChangeReader>;

/** What the engine reports: the log is read, or is not read for a reason. */
export type ChangeEngineState = { readonly unavailable: Error | null };

export interface LogEvents {
  onTransaction(transaction: CommittedTransaction): void;
  onOpened(): void;
  /** The reader has failed: transactions are missing. Resolves when nothing of it is in use. */
  onLost(): Promise<void>;
  /** The log is not read for some time: once after `onLost`, unless a reader is confirmed before. */
  onOutage(): void;
  report(state: ChangeEngineState): void;
}

const maxBackOffMs = 30_000;
/** Milliseconds without the log after which streams learn of it. */
const outageMs = 2_000;

/** Reads the log, and opens it again after each failure. */
export class LogSource {
  /** Readers that have failed one after the other before they were confirmed, and attempts to open one. */
  #failures = 0;
  readonly #open: OpenReader;
  readonly #events: LogEvents;
  readonly #abort = new AbortController();
  #running: Promise<void> | null = null;
  readonly #waiting = new Set<() => void>();
  #outage: NodeJS.Timeout | null = null;
  #fail: (error: Error) => void = () => undefined;
  /** Null while the log is not read. */
  reader: ChangeReader | null = null;
  /** Why it is not read. */
  unavailable: Error = new Error('the log is not open yet');

  constructor(open: OpenReader, events: LogEvents) {
    this.#open = open;
    this.#events = events;
  }

  /** Waits some time for the reader, as after the start. */
  async waitForReader(ms: number): Promise<void> {
    if (this.reader !== null || this.isClosed) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#waiting.add(end);
    });
  }

  #endWaits(): void {
    for (const end of this.#waiting) end();
  }

  /** Waits until the reader has everything up to a position. @throws the error of the reader; Error after `ms` milliseconds */
  reach(lsn: bigint, ms: number): Promise<void> {
    const { reader } = this;
    return reader === null ? Promise.reject(this.unavailable) : within(ms, reader.reach(lsn));
  }

  /** Ends the reader, which is of no use, and opens another one: each time later, until one is confirmed. */
  abandon(error: Error): void {
    this.#fail(error);
  }

  /** The log and the snapshots are of one server. */
  confirm(): void {
    this.#failures = 0;
    this.#endOutage();
  }

  #endOutage(): void {
    if (this.#outage !== null) clearTimeout(this.#outage);
    this.#outage = null;
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    const error = new Error('the gateway is closing');
    this.#abort.abort(error);
    this.#endOutage();
    this.#fail(error);
    this.#endWaits();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    for (; !signal.aborted; this.#failures++) {
      try {
        await this.#read();
      } catch (error) {
        if (signal.aborted) return;
        this.#setUnavailable(toError(error));
      }
      await sleep(Math.min(maxBackOffMs, 500 * 2 ** this.#failures), signal);
    }
  }

  /** Reads until the reader fails. @throws the error of an attempt to open it */
  async #read(): Promise<void> {
    const { signal } = this.#abort;
    let fail: (error: Error) => void = () => undefined;
    const failed = new Promise<Error>((resolve) => (fail = resolve));
    this.#fail = fail;
    const onTransaction = (transaction: CommittedTransaction): void => this.#events.onTransaction(transaction);
    const reader = await this.#open({ onTransaction, onFailure: fail }, signal);
    this.reader = reader;
    this.#events.report({ unavailable: null });
    if (signal.aborted) fail(signal.reason as Error);
    this.#events.onOpened();
    this.#endWaits();
    const error = await failed;
    this.reader = null;
    this.#setUnavailable(error);
    await reader.close().catch(() => undefined);
    await this.#events.onLost();
    // Neither a reader that is opened nor a cut that fails begins it again.
    if (!signal.aborted) this.#outage ??= setTimeout(() => this.#events.onOutage(), outageMs).unref();
  }

  #setUnavailable(error: Error): void {
    this.unavailable = error;
    if (!this.isClosed) this.#events.report({ unavailable: error });
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    signal.addEventListener('abort', end);
  });
}

async function within<Result>(ms: number, promise: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the log was not read within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
