import type { Cache } from '../ports/ports.ts';

/** How answers are kept of endpoints whose comment says `cached`. */
export interface CacheOptions {
  /** False: nothing is kept, whatever comments say. Default true. */
  readonly cacheEnabled: boolean;
  /** Where answers are kept; null: in the memory of this process. It belongs to the gateway, which opens and closes it. */
  readonly defaultRoutineCache: Cache | null;
  /** An answer of more rows is not kept. Default 1,000. */
  readonly maxCacheableRows: number;
  /** An answer of more bytes is not kept. Default 1,048,576. */
  readonly maxCacheableSize: number;
  /** The most answers in the memory of this process. Default 10,000. */
  readonly maxCacheEntries: number;
  /** The most bytes that they take there. Default 67,108,864. */
  readonly maxCacheSize: number;
  /** Minutes between two times that what has expired is removed from memory. Default 1. */
  readonly cachePruneIntervalMin: number;
  /**
   * A channel of `NOTIFY`: a payload such as `library.search_books`, or several with commas between them, makes void what is kept
   * of these; an empty one makes everything void. Calls of endpoints that say `invalidates` notify it too. Null: nobody listens.
   */
  readonly cacheInvalidateChannel: string | null;
}

export const cacheDefaults: CacheOptions = Object.freeze({
  cacheEnabled: true,
  defaultRoutineCache: null,
  maxCacheableRows: 1_000,
  maxCacheableSize: 1024 * 1024,
  maxCacheEntries: 10_000,
  maxCacheSize: 64 * 1024 * 1024,
  cachePruneIntervalMin: 1,
  cacheInvalidateChannel: null,
});
