import { setTimeout as delay } from 'node:timers/promises';
import { readCatalogFingerprint } from '../catalog/catalog-fingerprint.ts';
import type { Connections } from './connections.ts';
import type { Changes } from './open-changes.ts';
import type { ChannelEvent } from '../postgres/port.ts';
import type { Broadcast, Observer } from '../ports/ports.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import type { RefreshStaleEndpoint } from '../request/stale-endpoint.ts';
import { StartError } from './start-error.ts';

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
    refresh().catch((error: unknown) => observe({ kind: 'refresh-failed', error: asError(error) }));
  });
  return {
    refresh: async () => {
      await refresh();
      broadcast.publish(refreshTopic, '');
    },
    stop,
  };
}

/**
 * Bounds of the pause between two refreshes that stale endpoints cause while the catalog stays the same, in milliseconds. A refresh that does
 * not help doubles it.
 */
const minStalePause = 5_000;
const maxStalePause = 60_000;
/** Milliseconds between two looks at the catalog that stale endpoints cause: at least so many, and so many times what the last one took. */
const minCheckInterval = 50;
const checkIntervalFactor = 10;
/**
 * Milliseconds of the waits for further looks at the catalog after it has changed: a migration may have more statements, such as the CREATE
 * after a DROP, and without its endpoint no request would notice. A change begins them again.
 */
const laterLooks: readonly number[] = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

/**
 * Refreshes when a request finds its endpoint stale: once for all concurrent requests, and at a rate that clients cannot raise. A catalog
 * that has changed since the last such refresh is read at once: migrations may follow each other quickly.
 */
export function refreshStaleEndpoints(
  pipeline: () => RequestPipeline,
  { refresh, databases }: { readonly refresh: Refresh; readonly databases: Connections['all'] },
  observe: Observer,
): RefreshStaleEndpoint {
  let running: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();
  let pause = minStalePause;
  let notBefore = 0;
  let nextCheck = 0;
  /** By connection: the catalog at the last such refresh. */
  const versions = new Map<string | null, string>();
  /** The pipeline that the last such refresh gave. */
  let refreshed: RequestPipeline | null = null;
  /** Looks run one after the other, each with the refresh that may follow: the next one finds its endpoints. */
  const inTurn = (look: () => Promise<void>): Promise<void> => (last = last.then(look));
  /** Returns whether the catalog has changed since the last such refresh; false where it cannot be read. */
  const hasChanged = async (connection: string | null): Promise<boolean> => {
    const wait = nextCheck - performance.now();
    if (wait > 0) await delay(wait);
    const begun = performance.now();
    // Before the refresh: a change meanwhile is found by the next look.
    const version = await readCatalogFingerprint(databases().get(connection)!).catch(() => null);
    const now = performance.now();
    nextCheck = now + Math.max(minCheckInterval, checkIntervalFactor * (now - begun));
    if (version === null || version === versions.get(connection)) return false;
    versions.set(connection, version);
    return true;
  };
  const tryRefresh = async (): Promise<void> => {
    try {
      await refresh();
      refreshed = pipeline();
    } catch (failure) {
      observe({ kind: 'refresh-failed', error: asError(failure) });
    }
  };
  const timers = new Map<string | null, NodeJS.Timeout>();
  const lookLater = (connection: string | null, [wait, ...further] = laterLooks): void => {
    clearTimeout(timers.get(connection));
    if (wait === undefined) return;
    const look = async (): Promise<void> => {
      const isNew = await hasChanged(connection);
      if (isNew) await tryRefresh();
      lookLater(connection, isNew ? laterLooks : further);
    };
    timers.set(connection, setTimeout(() => void inTurn(look), wait).unref());
  };
  const run = async (...[stale, endpoint, error]: Parameters<RefreshStaleEndpoint>): Promise<void> => {
    const hasOther = (): boolean => pipeline() !== stale;
    // Another refresh came first.
    if (hasOther()) return;
    const isNew = await hasChanged(endpoint.connection);
    if (hasOther()) return;
    if (!isNew && performance.now() < notBefore) return;
    pause = !isNew && stale === refreshed ? Math.min(pause * 2, maxStalePause) : minStalePause;
    observe({ kind: 'endpoint-stale', endpoint, error });
    await tryRefresh();
    notBefore = performance.now() + pause;
    if (isNew) lookLater(endpoint.connection);
  };
  return async (stale, endpoint, error) => {
    if (pipeline() === stale) {
      running ??= inTurn(() => run(stale, endpoint, error)).finally(() => (running = null));
      await running;
    }
    const current = pipeline();
    return current === stale ? null : current;
  };
}

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
    if (!this.#stopped) this.#observe({ kind: 'refresh-failed', error: asError(error) });
    if (!(error instanceof StartError)) this.#requested = true;
    return Math.min(maxRetryDelay, 1_000 * 2 ** this.#failures++);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
