import { z } from 'zod';
import { count, flag, optionalText, secret, text } from './fields.ts';

/** The section `cache`: cached responses. */
export const cacheSection = z
  .strictObject({
    enabled: flag(true, 'Caches responses of endpoints whose comment says `cached`.'),
    maxRows: count(1_000, 'Maximum rows of a cached response; larger responses are not cached.', 10_000_000),
    maxAnswerSize: count(
      1_048_576,
      'Maximum bytes of a cached response; larger responses are not cached.',
      268_435_456,
    ),
    maxEntries: count(
      10_000,
      'Maximum number of responses in memory; the least recently used is evicted.',
      100_000_000,
    ),
    maxSize: count(67_108_864, 'Maximum bytes of all responses in memory.', 1_099_511_627_776),
    pruneIntervalMin: z
      .number()
      .positive()
      .max(10_080)
      .default(1)
      .describe('Minutes between removals of expired responses from memory.'),
    invalidateChannel: optionalText(
      'A NOTIFY channel that invalidates cached responses. Payload: `schema.routine`, several separated by commas, or empty for all.',
    ),
    redisUrl: secret(
      optionalText(
        'Caches responses in Redis or Valkey, shared by several instances: `redis://user:password@host:6379/0`, or `rediss://…` for TLS. Needs the package `@redis/client`. Null: in memory.',
      ),
    ),
    redisPrefix: text('pgway', 'Prefix of every key in Redis; instances with the same prefix share their cache.'),
    redisTimeout: z
      .number()
      .positive()
      .max(60)
      .default(0.5)
      .describe('Seconds before a Redis command times out and the request continues without the cache.'),
    redisMaxAge: z
      .number()
      .positive()
      .max(31_536_000)
      .default(86_400)
      .describe('Maximum seconds that a response stays in Redis.'),
  })
  .prefault({})
  .describe('The response cache, for endpoints whose comment says `cached`.');
