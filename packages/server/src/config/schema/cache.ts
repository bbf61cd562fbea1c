import { z } from 'zod';
import { count, type Count, flag, type Flag, optionalText, type OptionalText, secret, text } from './fields.ts';

interface CacheSettings {
  readonly cacheEnabled: Flag;
  readonly maxCacheableRows: Count;
  readonly maxCacheableSize: Count;
  readonly maxCacheEntries: Count;
  readonly maxCacheSize: Count;
  readonly cachePruneIntervalMin: z.ZodDefault<z.ZodNumber>;
  readonly cacheInvalidateChannel: OptionalText;
}

/** The settings of the response cache in the section `gateway`. */
export const cacheSettings: CacheSettings = {
  cacheEnabled: flag(true, 'Caches responses of endpoints whose comment says `cached`.'),
  maxCacheableRows: count(1_000, 'Maximum rows of a cached response; larger responses are not cached.', 10_000_000),
  maxCacheableSize: count(
    1_048_576,
    'Maximum bytes of a cached response; larger responses are not cached.',
    268_435_456,
  ),
  maxCacheEntries: count(
    10_000,
    'Maximum number of cached responses in memory; those that were not used lately are evicted first.',
    100_000_000,
  ),
  maxCacheSize: count(67_108_864, 'Maximum bytes of all cached responses in memory.', 1_099_511_627_776),
  cachePruneIntervalMin: z
    .number()
    .positive()
    .max(10_080)
    .default(1)
    .describe('Minutes between removals of expired responses from memory.'),
  cacheInvalidateChannel: optionalText(
    'A NOTIFY channel that invalidates cached responses. Payload: `schema.routine`, several separated by commas, or empty for all.',
  ),
};

/** The section `redisCache`: the options of the cache in Redis. */
export const redisCacheSection = z
  .strictObject({
    url: secret(
      optionalText(
        'Caches responses in Redis or Valkey, shared by several instances: `redis://user:password@host:6379/0`, `rediss://…` for TLS, or `redis-sentinel://host:26379,host:26379/name` for Sentinel. Null: in memory.',
      ),
    ),
    prefix: text('pgway', 'Prefix of every key in Redis; instances with the same prefix share their cache.'),
    timeout: z
      .number()
      .positive()
      .max(60)
      .default(0.5)
      .describe('Seconds before a Redis command times out and the request continues without the cache.'),
    maxAge: z
      .number()
      .positive()
      .max(31_536_000)
      .default(86_400)
      .describe('Maximum seconds that a response stays in Redis.'),
  })
  .prefault({})
  .describe(
    'The response cache in Redis or Valkey; `gateway.cacheEnabled` and the other settings of the cache are in `gateway`.',
  );
