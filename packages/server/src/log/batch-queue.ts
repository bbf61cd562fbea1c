/** A bounded queue in front of a slow output. Adding to it never waits. */
import { toError } from '@pgway/core/internal';

export interface BatchSink<Item> {
  /**
   * Writes the items.
   * @returns the number of lines that are lost
   * @throws Error when none can be written now; the queue writes them again later
   */
  write(items: readonly Item[]): Promise<number>;
  close(): Promise<void>;
}

/** Lets several queues write into one output, one batch after the other. */
export function sharedSink<Item>(sink: BatchSink<Item>): BatchSink<Item> {
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = <Result>(task: () => Promise<Result>): Promise<Result> => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    write: (items) => enqueue(() => sink.write(items)),
    close: () => enqueue(() => sink.close()),
  };
}

export interface BatchQueueOptions<Item> {
  /** The output in messages, as in `the log file pgway.log`. */
  readonly name: string;
  readonly sink: BatchSink<Item>;
  readonly sizeOf: (item: Item) => number;
  /** The lines of an item, which are counted when it is lost; absent: one. */
  readonly linesOf?: (item: Item) => number;
  /** Beyond it, the oldest items are dropped. */
  readonly maxItems: number;
  readonly batchSize: number;
  /** Milliseconds that an item waits for others. */
  readonly delayMs: number;
  /** Milliseconds between the attempts to write after a failure. */
  readonly retryMs: number;
  /** Receives each failure, each recovery and the number of lost lines, one line each. */
  readonly report: (message: string) => void;
}

/** The size of all items in a queue, in the unit of `sizeOf`. */
const maxSize = 16 * 1024 * 1024;
/** Milliseconds between two reports of lost lines. */
const lossReportMs = 60_000;

export class BatchQueue<Item> {
  readonly #options: BatchQueueOptions<Item>;
  #items: Item[] = [];
  /** The index of the oldest item: removing it from the array would move all others. */
  #first = 0;
  #size = 0;
  /** Since the last report. */
  #lost = 0;
  #reportedLost = 0;
  #lossReportedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  /** The items of the write that runs. */
  #writing: readonly Item[] = [];

  constructor(options: BatchQueueOptions<Item>) {
    this.#options = options;
  }

  push(item: Item): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    this.#size += this.#options.sizeOf(item);
    this.#dropOldest();
    if (this.#running !== null || this.#isFailing) return;
    if (this.#length >= this.#options.batchSize) this.#run();
    else this.#schedule(this.#options.delayMs);
  }

  /** Whether nothing waits, and no write runs or has failed. */
  get isIdle(): boolean {
    return this.#length === 0 && this.#running === null && !this.#isFailing;
  }

  /** The items of the write that runs, which may be stored already, and those that wait. */
  get unwritten(): { readonly writing: readonly Item[]; readonly waiting: readonly Item[] } {
    return { writing: this.#writing, waiting: this.#items.slice(this.#first) };
  }

  /** The number of lines that were lost. */
  get lost(): number {
    return this.#reportedLost + this.#lost;
  }

  /** Writes what is queued, for at most the given time, and closes the output. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)));
    await Promise.race([this.#finish(), timeout]);
    this.#clearTimer();
    while (this.#length > 0) this.#drop();
    this.#reportLoss(true);
    await Promise.race([this.#options.sink.close().catch(() => undefined), timeout]);
    clearTimeout(timer);
  }

  async #finish(): Promise<void> {
    await this.#running;
    this.#clearTimer();
    // The last attempt, also after a failure.
    if (this.#length > 0) this.#run();
    await this.#running;
  }

  get #length(): number {
    return this.#items.length - this.#first;
  }

  #schedule(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#run(), delayMs).unref();
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #run(): void {
    this.#clearTimer();
    this.#running = this.#writeAll().finally(() => (this.#running = null));
  }

  /** Writes batches until less than one is queued: under load, a few items would arrive during each write. */
  async #writeAll(): Promise<void> {
    const { sink, name, report, retryMs, batchSize, delayMs } = this.#options;
    do {
      const batch = this.#take();
      this.#writing = batch;
      try {
        // One batch at a time: lines keep their order.
        const lost = await sink.write(batch);
        this.#lost += lost;
      } catch (error) {
        this.#writing = [];
        this.#putBack(batch);
        if (!this.#isFailing) report(`${name} cannot be written, and lines may be lost: ${toError(error).message}`);
        this.#isFailing = true;
        if (!this.#isClosed) this.#schedule(retryMs);
        return;
      }
      this.#writing = [];
      if (this.#isFailing) report(`${name} is written again`);
      this.#reportLoss(this.#isFailing);
      this.#isFailing = false;
    } while (this.#length >= batchSize || (this.#isClosed && this.#length > 0));
    if (this.#length > 0) this.#schedule(delayMs);
  }

  #take(): readonly Item[] {
    const batch = this.#items.slice(this.#first, this.#first + this.#options.batchSize);
    this.#first += batch.length;
    for (const item of batch) this.#size -= this.#options.sizeOf(item);
    this.#compact();
    return batch;
  }

  #putBack(batch: readonly Item[]): void {
    this.#items = [...batch, ...this.#items.slice(this.#first)];
    this.#first = 0;
    for (const item of batch) this.#size += this.#options.sizeOf(item);
    this.#dropOldest();
  }

  #dropOldest(): void {
    while (this.#length > this.#options.maxItems || (this.#size > maxSize && this.#length > 1)) {
      this.#drop();
    }
    this.#compact();
  }

  /** Drops the oldest item. */
  #drop(): void {
    const item = this.#items[this.#first]!;
    this.#size -= this.#options.sizeOf(item);
    this.#lost += this.#options.linesOf?.(item) ?? 1;
    this.#first += 1;
  }

  /** Frees the items that were taken, once they are the larger part. */
  #compact(): void {
    if (this.#first === 0 || this.#first * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#first);
    this.#first = 0;
  }

  /** @param always whether to report what was lost since the last report, however short ago */
  #reportLoss(always: boolean): void {
    const now = performance.now();
    if (this.#lost === 0 || (!always && now - this.#lossReportedAt < lossReportMs)) return;
    this.#options.report(`${this.#options.name}: ${this.#lost} ${this.#lost === 1 ? 'line was' : 'lines were'} lost`);
    this.#reportedLost += this.#lost;
    this.#lost = 0;
    this.#lossReportedAt = now;
  }
}
