import { clientNetwork } from '../http/client-network.ts';

interface FairQueueOptions {
  /** The maximum number of running calls. */
  readonly concurrency: number;
  /** The maximum number of waiting calls. */
  readonly maxQueued: number;
  /** The error of calls beyond that. */
  readonly refusal: Error;
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * A bounded queue that is fair between client networks: they are served round-robin, the calls of each in order. When the queue is
 * full, a call replaces the last call of the network with the most waiting calls.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By network; the first one is served next. No array is empty. */
  readonly #waiting = new Map<string, Waiter[]>();
  #waiters = 0;
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /**
   * Runs the work when it is its turn.
   * @param address of the client; unknown addresses (null) share one turn
   * @throws the refusal when the queue is full
   */
  async run<Result>(address: string | null, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#options.concurrency) this.#running += 1;
    else await this.#turn(address === null ? '' : clientNetwork(address));
    try {
      return await work();
    } finally {
      const next = this.#next();
      // The next call takes over the slot, so that a new call cannot overtake it.
      if (next === null) this.#running -= 1;
      else next.start();
    }
  }

  #turn(network: string): Promise<void> {
    const queue = this.#waiting.get(network) ?? [];
    if (this.#waiters >= this.#options.maxQueued) this.#dropFromLongest(queue.length);
    return new Promise((resolve, reject) => {
      queue.push({ start: resolve, refuse: () => reject(this.#options.refusal) });
      this.#waiting.set(network, queue);
      this.#waiters += 1;
    });
  }

  /** @throws the refusal, unless another network has more waiting calls than this one would have */
  #dropFromLongest(waiting: number): void {
    let longest: readonly [network: string, waiters: Waiter[]] | null = null;
    for (const entry of this.#waiting) if (entry[1].length > (longest?.[1].length ?? 0)) longest = entry;
    if (longest === null || longest[1].length <= waiting + 1) throw this.#options.refusal;
    // At least two calls wait there: the array does not become empty.
    longest[1].pop()!.refuse();
    this.#waiters -= 1;
  }

  #next(): Waiter | null {
    for (const [network, waiters] of this.#waiting) {
      const next = waiters.shift()!;
      this.#waiters -= 1;
      // To the end of the round.
      this.#waiting.delete(network);
      if (waiters.length > 0) this.#waiting.set(network, waiters);
      return next;
    }
    return null;
  }
}
