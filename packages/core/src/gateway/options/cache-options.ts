import { option, optionGroup, type OptionGroup } from '../../validation/option.ts';
import { boolean, implementation, integer, nonEmptyString, nullable, number } from '../../validation/validators.ts';
import type { Cache } from '../../ports/ports.ts';
import type { CacheOptions } from './options.generated.ts';

export type { CacheOptions } from './options.generated.ts';

export const cacheOptions: OptionGroup<CacheOptions> = optionGroup<CacheOptions>(
  'CacheOptions',
  'Cached responses of endpoints with the annotation `cached`.',
  {
    cacheEnabled: option(boolean, true, 'Caches responses of endpoints whose comment says `cached`.'),
    defaultRoutineCache: option(
      nullable(implementation<Cache>('Cache', '../../ports/ports.ts', ['get', 'set', 'invalidate', 'close'])),
      null,
      'The cache, which the gateway opens and closes; null: memory of this process.',
    ),
    maxCacheableRows: option(
      integer({ min: 1, max: 10_000_000 }),
      1_000,
      'Maximum rows of a cached response; larger responses are not cached.',
    ),
    maxCacheableSize: option(
      integer({ min: 1, max: 268_435_456 }),
      1024 * 1024,
      'Maximum bytes of a cached response; larger responses are not cached.',
    ),
    maxCacheEntries: option(
      integer({ min: 1, max: 100_000_000 }),
      10_000,
      'Maximum number of cached responses in memory; those that were not used lately are evicted first.',
    ),
    maxCacheSize: option(
      integer({ min: 1, max: 1_099_511_627_776 }),
      64 * 1024 * 1024,
      'Maximum bytes of all cached responses in memory.',
    ),
    cachePruneIntervalMin: option(
      number({ above: 0, max: 10_080 }),
      1,
      'Minutes between removals of expired responses from memory.',
    ),
    cacheInvalidateChannel: option(
      nullable(nonEmptyString),
      null,
      'A NOTIFY channel that invalidates cached responses. Payload: `schema.routine`, several separated by commas, or empty for all. Endpoints with `invalidates` notify it too.',
    ),
  },
);
