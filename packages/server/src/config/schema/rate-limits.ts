import { z } from 'zod';
import { count, optionalText, secret, text } from './fields.ts';

/** A word of comments that takes the limit off, in the annotation `rate_limit`. */
const reservedNames = /^(?:none|on|true|enabled?|off|false|disabled?)$/i;

const policyName = z
  .string()
  .regex(
    /^[A-Za-z][\w-]{0,63}$/,
    'must be a name of at most 64 letters, digits, - and _ that begins with a letter, as comments use it',
  )
  .refine((name) => !reservedNames.test(name), 'is a word of the annotation rate_limit; use another name');

const policy = z
  .strictObject({
    type: z
      .enum(['fixed-window', 'sliding-window', 'token-bucket', 'concurrency'])
      .describe('How requests are counted.'),
    limit: z.int().min(1).max(1_000_000).describe('The number of requests.'),
    window: z.int().min(1).max(86_400).optional().describe('Seconds; 60 by default. Not for `concurrency`.'),
    partitionBy: z
      .enum(['address', 'user', 'header', 'none'])
      .default('address')
      .describe('The property that requests are counted by.'),
    header: z
      .string()
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header, such as X-API-Key')
      .optional()
      .describe('The request header, with `partitionBy` `header`.'),
  })
  .superRefine(({ type, window, partitionBy, header }, context) => {
    const report = (option: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [option], message });
    if (type === 'concurrency' && window !== undefined) report('window', 'must be absent for a concurrency policy');
    if (partitionBy === 'header' && header === undefined) report('header', 'missing; partitionBy header needs it');
    if (partitionBy !== 'header' && header !== undefined) report('header', 'must be absent without partitionBy header');
  });

/** The section `rateLimits`: limits of the requests of endpoints. */
export const rateLimitsSection = z
  .strictObject({
    policies: z
      .record(policyName, policy)
      .default({})
      .describe(
        'The policies, by the names that comments select with `rate_limit <policy>`: `{"strict": {"type": "sliding-window", "limit": 10, "window": 60, "partitionBy": "address"}}`. `type`: `fixed-window`, `sliding-window`, `token-bucket` or `concurrency`. `window`: seconds, 60 by default. `partitionBy`: `address` (the default), `user`, `header` with the name of the header in `header`, or `none`.',
      ),
    defaultPolicy: optionalText('The policy of endpoints whose comment has no `rate_limit`; null: they have no limit.'),
    maxKeys: count(
      100_000,
      'Maximum number of keys (addresses, users, header values) of each policy in memory; the least recently used is evicted.',
      10_000_000,
    ),
    whenUnavailable: z
      .enum(['allow', 'refuse'])
      .default('allow')
      .describe('Whether requests pass, or are answered 503, while Redis is unavailable.'),
  })
  .prefault({})
  .describe('Rate limits of endpoints. With several instances, `redisRateLimits` makes them count together.');

/** The section `redisRateLimits`: the options of rate limits in Redis. */
export const redisRateLimitsSection = z
  .strictObject({
    url: secret(
      optionalText(
        'Counts requests in Redis or Valkey, so that several instances count together: `redis://user:password@host:6379/0`, `rediss://…` for TLS, or `redis-sentinel://host:26379,host:26379/name` for Sentinel. Null: in memory.',
      ),
    ),
    prefix: text('pgway', 'Prefix of every key in Redis; instances with the same prefix count together.'),
    timeout: z
      .number()
      .positive()
      .max(60)
      .default(0.1)
      .describe('Seconds that a request waits for Redis before Redis counts as unavailable.'),
    lease: z
      .number()
      .min(0.1)
      .max(3_600)
      .default(15)
      .describe('Seconds after which concurrent requests of an instance that has crashed no longer count.'),
  })
  .prefault({})
  .describe('The rate limits in Redis or Valkey.');
