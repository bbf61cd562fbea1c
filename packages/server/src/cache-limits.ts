import type { Configuration } from './config/schema.ts';

/** Returns the maximum number of cached responses in memory: one for 4 KiB of `maxCacheSize`, which bounds the memory of small ones. */
export function maxCacheEntries({ maxCacheSize }: Pick<Configuration['gateway'], 'maxCacheSize'>): number {
  return Math.min(100_000_000, Math.ceil(maxCacheSize / 4096));
}
