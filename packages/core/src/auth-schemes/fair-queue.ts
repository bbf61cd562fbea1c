import { clientNetwork } from './client-network.ts';

interface FairQueueOptions {
  /** How many run at once. */
  readonly concurrency: number;
  /** How many more may wait. */
  readonly maxQueued: number;
  /** What a call beyond that is refused with. */
  readonly refusal: Error;
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * A bounded queue that is fair to client addresses: those that wait are served in turn, each one's calls in their order. When
 * the queue is full, a call of an address with few waiting takes the place of the last call of the address with the most.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By network; the first one is served next. No list is empty. */
  readonly #waiting = new Map<string, Waiter[]>();
  #waiters = 0;
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /**
   * Runs the work when it is its turn.
   * @param address the client's; null: not known, all such calls share one turn
   * @throws the refusal, when too many wait
   */
  async run<Result>(address: string | null, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#options.concurrency) this.#running += 1;
    else await this.#turn(address === null ? '' : clientNetwork(address));
    try {
      return await work();
    } finally {
      const next = this.#next();
      // The next call takes over the place, so that none that comes in between is before it.
      if (next === null) this.#running -= 1;
      else next.start();
    }
  }

  #turn(network: string): Promise<void> {
    const own = this.#waiting.get(network) ?? [];
    if (this.#waiters >= this.#options.maxQueued) this.#makeRoom(own.length);
    return new Promise((resolve, reject) => {
      own.push({ start: resolve, refuse: () => reject(this.#options.refusal) });
      this.#waiting.set(network, own);
      this.#waiters += 1;
    });
  }

  /** @throws the refusal, unless another network has more waiting than this one would have */
  #makeRoom(own: number): void {
    let most: readonly [network: string, waiters: Waiter[]] | null = null;
    for (const entry of this.#waiting) if (entry[1].length > (most?.[1].length ?? 0)) most = entry;
    if (most === null || most[1].length <= own + 1) throw this.#options.refusal;
    // More than one waits there: the list does not become empty.
    most[1].pop()!.refuse();
    this.#waiters -= 1;
  }

  #next(): Waiter | null {
    for (const [network, waiters] of this.#waiting) {
      const next = waiters.shift()!;
      this.#waiters -= 1;
      // Behind all others that wait.
      this.#waiting.delete(network);
      if (waiters.length > 0) this.#waiting.set(network, waiters);
      return next;
    }
    return null;
  }
}
