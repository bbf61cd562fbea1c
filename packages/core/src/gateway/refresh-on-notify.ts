import type { Connections } from './connections.ts';
import type { ChannelEvent } from '../postgres/port.ts';
import type { Observer } from '../ports/ports.ts';
import { StartError } from './start-error.ts';

/** Notifications of one migration come close together, and make one refresh. */
const gather = 150;
/** How long the start waits until nothing is missed any more. */
const patience = 5_000;
const longestRetry = 30_000;

export interface Watch {
  /** From now on notifications cause refreshes, also what was notified since the watch began. */
  begin(refresh: () => Promise<void>): void;
  stop(): void;
}

/**
 * Refreshes when a channel is notified. Begun before the catalog is read, so that no change falls between. A lost connection is
 * opened again, and what may have been notified meanwhile is made up for by one refresh.
 */
export async function watchChannel(connections: Connections, channel: string, observe: Observer): Promise<Watch> {
  const refreshing = new Refreshing(observe);
  let listening!: () => void;
  const first = new Promise<void>((resolve) => (listening = resolve));
  let heardFirst = false;
  const stop = begun(connections, channel, ({ kind }) => {
    if (kind === 'gap' && !heardFirst) {
      heardFirst = true;
      return listening();
    }
    refreshing.want();
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)));
  await Promise.race([first, late]);
  clearTimeout(timer);
  // Whoever begins to listen late has missed something.
  heardFirst = true;
  return {
    begin: (refresh) => refreshing.begin(refresh),
    stop: () => {
      stop();
      refreshing.stop();
    },
  };
}

function begun(connections: Connections, channel: string, hear: (heard: ChannelEvent) => void): () => void {
  try {
    return connections.listen(channel, hear);
  } catch (error) {
    throw new StartError(`refreshOnNotify: ${(error as Error).message}`, { cause: error });
  }
}

/** At most one refresh at a time, and one more for all that is wanted meanwhile. */
class Refreshing {
  readonly #observe: Observer;
  #refresh: (() => Promise<void>) | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer comes, by `performance.now()`. */
  #due = Number.POSITIVE_INFINITY;
  #wanted = false;
  #running = false;
  #stopped = false;
  #failures = 0;

  constructor(observe: Observer) {
    this.#observe = observe;
  }

  begin(refresh: () => Promise<void>): void {
    this.#refresh = refresh;
    if (this.#wanted) this.#soon(gather);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  want(): void {
    this.#wanted = true;
    this.#soon(gather);
  }

  #soon(delay: number): void {
    if (this.#refresh === null || this.#running || this.#stopped) return;
    // Those that keep coming must not put it off for ever.
    if (this.#due <= performance.now() + delay) return;
    this.#due = performance.now() + delay;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), delay);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#due = Number.POSITIVE_INFINITY;
    this.#wanted = false;
    this.#running = true;
    let retry = gather;
    try {
      await this.#refresh!();
      this.#failures = 0;
    } catch (error) {
      retry = this.#failed(error);
    }
    this.#running = false;
    if (this.#wanted) this.#soon(retry);
  }

  /** What is wrong with the comments stays wrong until the next notification; a database that is away comes back. */
  #failed(error: unknown): number {
    if (!this.#stopped) {
      this.#observe({ kind: 'refresh-failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
    if (!(error instanceof StartError)) this.#wanted = true;
    return Math.min(longestRetry, 1_000 * 2 ** this.#failures++);
  }
}
