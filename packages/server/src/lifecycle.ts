/** Parts that start one after the other and stop in reverse, each within a bound of time. */

/** Somebody wished to stop while parts were still starting. */
export class StartInterrupted extends Error {
  override readonly name = 'StartInterrupted';
}

/** A part took longer than its bound. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/** How one part starts and stops. All times in milliseconds. */
export interface Part<Product> {
  /** As it stands in messages: `the gateway`. */
  readonly name: string;
  readonly startWithin: number;
  readonly start: () => Promise<Product>;
  readonly stopWithin: number;
  /** Ends the part. Once `atOnce` is aborted it must not wait for anybody's work any more. */
  readonly stop: (product: Product, atOnce: AbortSignal) => Promise<void>;
}

interface Started {
  readonly name: string;
  readonly within: number;
  readonly stop: () => Promise<void>;
}

/** What a part gets to end when nobody waits for work any more, and what one gets that was still starting. */
const shortGrace = 3000;

export class Lifecycle {
  readonly #starting = new Set<Promise<void>>();
  readonly #started: Started[] = [];
  readonly #stopWish = new AbortController();
  readonly #atOnce = new AbortController();

  #failure: Error | null = null;

  /** Why a part has ended by itself; null: none has. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Aborted when somebody wishes to stop. */
  get stopWish(): AbortSignal {
    return this.#stopWish.signal;
  }

  /**
   * Starts a part; from then on `stop` stops it.
   * @throws StartInterrupted when a stop was wished before or meanwhile
   * @throws TookTooLong past the bound
   */
  async start<Product>(part: Part<Product>): Promise<Product> {
    if (this.stopWish.aborted) throw new StartInterrupted();
    const starting = part.start().then((product) => {
      const stop = (): Promise<void> => part.stop(product, this.#atOnce.signal);
      this.#started.push({ name: part.name, within: part.stopWithin, stop });
      return product;
    });
    // A part that comes up too late, or after a stop was wished, must still go down: `stop` waits for it a while.
    const settled = starting.then(nothing, nothing);
    this.#starting.add(settled);
    void settled.then(() => this.#starting.delete(settled));
    const interrupted = whenAborted(this.stopWish).then(() => {
      throw new StartInterrupted();
    });
    return Promise.race([bounded(starting, part.startWithin, `${part.name} did not start in time`), interrupted]);
  }

  /** A part has ended by itself: nothing can go on without it. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.wishStop();
  }

  /** Nothing further starts. */
  wishStop(): void {
    this.#stopWish.abort();
  }

  /** Nothing further starts, and stops wait for nobody's work any more. */
  wishStopAtOnce(): void {
    this.#stopWish.abort();
    this.#atOnce.abort();
  }

  /** Stops what was started, the last first. Gives back what went wrong; nothing keeps the others from stopping. */
  async stop(): Promise<readonly Error[]> {
    this.wishStop();
    const failures: Error[] = [];
    const note = (error: unknown): void => {
      failures.push(error instanceof Error ? error : new Error(String(error)));
    };
    const starts = Promise.all(this.#starting).then(nothing);
    await bounded(starts, shortGrace, 'a part was still starting').catch(note);
    for (let part = this.#started.pop(); part !== undefined; part = this.#started.pop()) {
      await this.#stopPart(part).catch(note);
    }
    return failures;
  }

  async #stopPart(part: Started): Promise<void> {
    const late = `${part.name} did not stop in time`;
    const stopping = part.stop();
    const hurried = whenAborted(this.#atOnce.signal).then(() => bounded(stopping, shortGrace, late));
    await Promise.race([bounded(stopping, part.within, late), hurried]);
  }
}

function nothing(): void {}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function bounded<Product>(work: Promise<Product>, milliseconds: number, message: string): Promise<Product> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(message)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
