import { setTimeout as delay } from 'node:timers/promises';
import { readCatalogFingerprint } from '../catalog/catalog-fingerprint.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Observer } from '../ports/ports.ts';
import { TokenBucket } from '../rate-limits/token-bucket.ts';
import type { RequestPipeline } from '../request/pipeline.ts';
import type { RefreshStaleEndpoint, StaleError } from '../request/stale-endpoint.ts';
import type { Connections } from './connections.ts';
import { toError } from '../to-error.ts';

/**
 * Bounds of the pause between two refreshes that stale endpoints cause while the catalog stays the same, in milliseconds. A refresh that does
 * not help doubles it.
 */
const minPause = 5_000;
const maxPause = 60_000;
/** Refreshes without such a pause, because the catalog has changed: at most so many at once, which come back within a minute. */
const quickRefreshes = 20;
const quickWindowMs = 60_000;
/** Milliseconds between two looks at the catalog: ten times what the last one took, within these bounds. */
const minLookInterval = 50;
const maxLookInterval = 1_000;
const lookIntervalFactor = 10;
/**
 * Milliseconds of the waits for further looks after the catalog has changed: a migration may have more statements, such as the CREATE after
 * a DROP, and no request finds a missing endpoint stale. A change begins them again.
 */
const laterLooks: readonly number[] = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

interface StaleEndpoint {
  /** The pipeline with the endpoint. */
  readonly stale: RequestPipeline;
  readonly endpoint: Endpoint;
  readonly error: StaleError;
}

interface Run {
  readonly stale: RequestPipeline;
  readonly done: Promise<void>;
}

interface RefreshParts {
  readonly pipeline: () => RequestPipeline;
  /** Reads the catalog again and swaps the pipeline; rejects when the old endpoints stay. */
  readonly refresh: () => Promise<void>;
  readonly databases: Connections['all'];
  readonly observe: Observer;
}

/**
 * Refreshes when a request finds its endpoint stale: once for all concurrent requests, and at a rate that clients cannot raise. A catalog
 * that has changed since the last such refresh is read at once: migrations may follow each other quickly.
 */
export class StaleRefresh {
  readonly #parts: RefreshParts;
  readonly #quick = new TokenBucket({
    limit: quickRefreshes,
    windowMs: quickWindowMs,
    maxKeys: 1,
    now: () => performance.now(),
  });
  /** By connection: the catalog as it was before the last such refresh that succeeded. */
  readonly #versions = new Map<string | null, string>();
  readonly #timers = new Map<string | null, NodeJS.Timeout>();
  #running: Run | null = null;
  /** The end of the last look, with the refresh that followed. */
  #last: Promise<void> = Promise.resolve();
  #pause = minPause;
  #notBefore = 0;
  #nextLook = 0;
  /** The pipeline that the last such refresh gave. */
  #refreshed: RequestPipeline | null = null;
  #isStopped = false;

  constructor(parts: RefreshParts) {
    this.#parts = parts;
  }

  readonly refresh: RefreshStaleEndpoint = async (stale, endpoint, error) => {
    const { pipeline } = this.#parts;
    while (pipeline() === stale) {
      const running = this.#running ?? this.#start({ stale, endpoint, error });
      await running.done;
      // A run for earlier endpoints says nothing about these.
      if (running.stale === stale) break;
    }
    const current = pipeline();
    return current === stale ? null : current;
  };

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #start(request: StaleEndpoint): Run {
    const done = this.#inTurn(() => this.#run(request)).finally(() => (this.#running = null));
    this.#running = { stale: request.stale, done };
    return this.#running;
  }

  /** Looks run one after the other, each with the refresh that may follow: the next one finds its endpoints. */
  #inTurn(look: () => Promise<void>): Promise<void> {
    const ended = this.#last.then(look);
    // An error of one look must not stop the next ones.
    this.#last = ended.catch(() => undefined);
    return ended;
  }

  async #run({ stale, endpoint, error }: StaleEndpoint): Promise<void> {
    const { pipeline, observe } = this.#parts;
    const { connection } = endpoint;
    // Another refresh may come first.
    if (pipeline() !== stale) return;
    const version = await this.#readVersion(connection);
    if (pipeline() !== stale || this.#isStopped) return;
    const isNew = this.#isNew(connection, version);
    const isQuick = isNew && this.#quick.take('').allowed;
    if (!isQuick && performance.now() < this.#notBefore) return;
    this.#pause = !isNew && stale === this.#refreshed ? Math.min(this.#pause * 2, maxPause) : minPause;
    observe({ kind: 'endpoint-stale', endpoint, error });
    await this.#refresh(connection, version);
    if (isNew) this.#lookLater(connection);
  }

  #isNew(connection: string | null, version: string | null): boolean {
    return version !== null && version !== this.#versions.get(connection);
  }

  /** Returns the version of the catalog; null where it cannot be read. */
  async #readVersion(connection: string | null): Promise<string | null> {
    const wait = this.#nextLook - performance.now();
    if (wait > 0) await delay(wait, undefined, { ref: false });
    const begun = performance.now();
    const version = await readCatalogFingerprint(this.#parts.databases().get(connection)!).catch(() => null);
    const now = performance.now();
    const interval = Math.max(minLookInterval, lookIntervalFactor * (now - begun));
    this.#nextLook = now + Math.min(maxLookInterval, interval);
    return version;
  }

  /** @param version of the catalog before: a change meanwhile is found by the next look */
  async #refresh(connection: string | null, version: string | null): Promise<void> {
    const { pipeline, refresh, observe } = this.#parts;
    try {
      await refresh();
      this.#refreshed = pipeline();
      if (version !== null) this.#versions.set(connection, version);
    } catch (error) {
      observe({ kind: 'refresh-failed', error: toError(error) });
    }
    this.#notBefore = performance.now() + this.#pause;
  }

  #lookLater(connection: string | null, [wait, ...further] = laterLooks): void {
    clearTimeout(this.#timers.get(connection));
    if (wait === undefined || this.#isStopped) return;
    const look = async (): Promise<void> => {
      const version = await this.#readVersion(connection);
      if (this.#isStopped) return;
      const isQuick = this.#isNew(connection, version) && this.#quick.take('').allowed;
      if (isQuick) await this.#refresh(connection, version);
      this.#lookLater(connection, isQuick ? laterLooks : further);
    };
    this.#timers.set(connection, setTimeout(() => void this.#inTurn(look).catch(() => undefined), wait).unref());
  }
}
