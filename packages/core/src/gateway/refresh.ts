import type { Connections } from './connections.ts';
import type { Changes } from './open-changes.ts';
import type { ChannelEvent } from '../postgres/port.ts';
import type { Broadcast, Observer } from '../ports/ports.ts';
import { StartError } from './start-error.ts';
import { toError } from '../to-error.ts';

/** Reads the catalog again and swaps the endpoints; rejects when the old endpoints stay. */
type Refresh = () => Promise<void>;

/**
 * Runs a refresh at most once at a time. A call during a run waits for one further run, which all such calls share, so that its caller sees
 * every change made before the call.
 */
export function serialize(refresh: Refresh): Refresh {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    next = null;
    running = refresh().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (running === null) return start();
    next ??= running.then(start, start);
    return next;
  };
}

const refreshTopic = 'refresh';

export interface SharedRefresh {
  /** Refreshes this instance, then asks the other instances to refresh. */
  readonly refresh: Refresh;
  readonly stop: () => void;
}

/** Shares refreshes between the instances of a gateway. A gap in the broadcast counts as a request to refresh. */
export function shareRefreshes(refresh: Refresh, broadcast: Broadcast, observe: Observer): SharedRefresh {
  const stop = broadcast.subscribe(refreshTopic, () => {
    refresh().catch((error: unknown) => observe({ kind: 'refresh-failed', error: toError(error) }));
  });
  return {
    refresh: async () => {
      await refresh();
      broadcast.publish(refreshTopic, '');
    },
    stop,
  };
}

/** Milliseconds between two refreshes that changes of watched tables cause. */
const minStalePause = 5_000;

/** Notifications of one migration arrive within this many milliseconds of each other and cause one refresh. */
const debounce = 150;
/** Milliseconds that the start waits for the subscription to the channel. */
const subscribeTimeout = 5_000;
const maxRetryDelay = 30_000;

export interface NotificationRefresh {
  /** Refreshes for each notification from now on, and for those since the subscription. */
  start(refresh: Refresh): void;
  stop(): void;
}

/**
 * Subscribes to the channel `refreshOnNotify` before the catalog is read, so that no change is missed. A lost connection is reopened and
 * followed by one refresh, as notifications may have been missed.
 * @returns null without a channel
 * @throws StartError for a channel that cannot be listened to
 */
export async function refreshOnNotify(
  connections: Connections,
  channel: string | null,
  observe: Observer,
): Promise<NotificationRefresh | null> {
  if (channel === null) return null;
  const refresher = new DebouncedRefresh(observe);
  let subscribed!: () => void;
  const subscription = new Promise<void>((resolve) => (subscribed = resolve));
  let isSubscribed = false;
  const stop = listen(connections, channel, ({ kind }) => {
    if (kind === 'gap' && !isSubscribed) {
      isSubscribed = true;
      return subscribed();
    }
    refresher.request();
  });
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, subscribeTimeout)));
  await Promise.race([subscription, timeout]);
  clearTimeout(timer);
  // A later subscription may have missed notifications: its first gap causes a refresh.
  isSubscribed = true;
  return {
    start: (refresh) => refresher.start(refresh),
    stop: () => {
      stop();
      refresher.stop();
    },
  };
}

function listen(connections: Connections, channel: string, receive: (message: ChannelEvent) => void): () => void {
  try {
    return connections.listen(channel, receive);
  } catch (error) {
    throw new StartError(`refreshOnNotify: ${(error as Error).message}`, { cause: error });
  }
}

/** Refreshes when queries of row changes do not fit the database any more: clients that connect again cannot raise the rate. */
export function refreshStaleChanges(
  changes: Pick<Changes, 'onStale'>,
  refresh: Refresh,
  observe: Observer,
): { stop(): void } {
  const refresher = new DebouncedRefresh(observe, minStalePause);
  refresher.start(refresh);
  changes.onStale(() => refresher.request());
  return refresher;
}

/** Runs one refresh at a time, and one more for all requests during a run. */
class DebouncedRefresh {
  readonly #observe: Observer;
  /** Milliseconds from the end of a refresh to the next one, at least. */
  readonly #pause: number;
  /** By `performance.now()`. */
  #notBefore = 0;
  #refresh: Refresh | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires, by `performance.now()`. */
  #due = Number.POSITIVE_INFINITY;
  #requested = false;
  #running = false;
  #stopped = false;
  #failures = 0;

  constructor(observe: Observer, pause = 0) {
    this.#observe = observe;
    this.#pause = pause;
  }

  start(refresh: Refresh): void {
    this.#refresh = refresh;
    if (this.#requested) this.#schedule(debounce);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  request(): void {
    this.#requested = true;
    this.#schedule(debounce);
  }

  #schedule(wanted: number): void {
    if (this.#refresh === null || this.#running || this.#stopped) return;
    const delay = Math.max(wanted, this.#notBefore - performance.now());
    // A steady flow of notifications does not postpone the refresh.
    if (this.#due <= performance.now() + delay) return;
    this.#due = performance.now() + delay;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), delay);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#due = Number.POSITIVE_INFINITY;
    this.#requested = false;
    this.#running = true;
    let delay = debounce;
    try {
      await this.#refresh!();
      this.#failures = 0;
    } catch (error) {
      delay = this.#retryDelay(error);
    }
    this.#running = false;
    this.#notBefore = performance.now() + this.#pause;
    if (this.#requested) this.#schedule(delay);
  }

  /** A faulty comment stays faulty until the next notification; an unreachable database is retried. */
  #retryDelay(error: unknown): number {
    if (!this.#stopped) this.#observe({ kind: 'refresh-failed', error: toError(error) });
    if (!(error instanceof StartError)) this.#requested = true;
    return Math.min(maxRetryDelay, 1_000 * 2 ** this.#failures++);
  }
}
