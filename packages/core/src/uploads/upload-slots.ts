import { AcquireTimeout, clientShare, type Database } from '../postgres/port.ts';

/** Limits the connections that uploads hold, so that other calls find free ones while clients send their files slowly. */
export class UploadSlots {
  readonly #slots: number | null;
  readonly #timeoutMs: number;
  readonly #queues = new WeakMap<Database, SlotQueue>();

  /**
   * @param slots the maximum number of connections to each database; null: half of its connections, at least one
   * @param timeoutMs milliseconds that an upload may wait for one
   */
  constructor(slots: number | null, timeoutMs: number) {
    this.#slots = slots;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Waits for a connection of the database. Returns a function that frees it, to be called once.
   * @throws AcquireTimeout; the reason of the signal
   */
  acquire(database: Database, signal: AbortSignal): Promise<() => void> {
    let queue = this.#queues.get(database);
    if (queue === undefined) {
      queue = new SlotQueue(this.#slots ?? clientShare(database.size));
      this.#queues.set(database, queue);
    }
    return queue.acquire(this.#timeoutMs, signal);
  }
}

class SlotQueue {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(slots: number) {
    this.#free = slots;
  }

  acquire(timeoutMs: number, signal: AbortSignal): Promise<() => void> {
    // Its event does not come again.
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(() => this.#release());
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(begin);
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const begin = (): void => {
        leave();
        resolve(() => this.#release());
      };
      const abort = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new AcquireTimeout(`no connection for uploads became free within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiting.add(begin);
      signal.addEventListener('abort', abort);
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else next();
  }
}
