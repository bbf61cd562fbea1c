import { parseBoolean } from '../../endpoints/comment/lexer.ts';
import type { RateLimitStore } from '../../ports/rate-limit-store.ts';
import { optionalOption, option, optionGroup, type OptionGroup, requiredOption } from '../../validation/option.ts';
import type { Fault } from '../../validation/fault.ts';
import { nearestName } from '../../validation/suggestion.ts';
import {
  implementation,
  integer,
  matching,
  nonEmptyString,
  nullable,
  oneOf,
  recordOf,
} from '../../validation/validators.ts';
import type { RateLimitPolicyOptions, RateLimitsOptions } from './options.generated.ts';

export type { RateLimitPolicyOptions, RateLimitsOptions } from './options.generated.ts';

/** Seconds. */
export const defaultWindow = 60;

/** A field name (RFC 9110, section 5.1). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export const rateLimitPolicyOptions: OptionGroup<RateLimitPolicyOptions> = optionGroup<RateLimitPolicyOptions>(
  'RateLimitPolicyOptions',
  'A limit of the requests of endpoints.',
  {
    type: requiredOption(
      oneOf('fixed-window', 'sliding-window', 'token-bucket', 'concurrency'),
      'How requests are counted: `limit` in a window that begins with the first one, in any window, at once and coming back evenly over the window, or at a time.',
    ),
    limit: requiredOption(integer({ min: 1, max: 1_000_000 }), 'The number of requests.'),
    window: optionalOption(
      integer({ min: 1, max: 86_400 }),
      `Seconds; ${defaultWindow} by default. Not for \`concurrency\`.`,
    ),
    partitionBy: option(
      oneOf('address', 'user', 'header', 'none'),
      'address',
      'The property that requests are counted by. An IPv6 address counts by its /64; list proxies in `trustedProxies`. Anonymous callers count by their address, and so do requests without the header.',
    ),
    header: optionalOption(
      nullable(matching(token, 'the name of a header, such as X-API-Key')),
      'The request header, with `partitionBy` `header`. Clients can send any value.',
    ),
  },
  { isPartial: true, check: policyFaults },
);

function policyFaults({ type, window, partitionBy, header = null }: Readonly<Record<string, unknown>>): Fault[] {
  const isByHeader = partitionBy === 'header';
  return [
    ...(type === 'concurrency' && window !== undefined
      ? [{ path: ['window'], message: 'must be absent for a concurrency policy' }]
      : []),
    ...(isByHeader && header === null
      ? [{ path: ['header'], message: 'is missing; partitionBy header needs it' }]
      : []),
    ...(!isByHeader && header !== null
      ? [{ path: ['header'], message: 'must be absent without partitionBy header' }]
      : []),
  ];
}

/** The name is a word of comments, and a structured string of the header `RateLimit`. */
function nameFault(name: string): string | null {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(name))
    return 'must be a name of at most 64 letters, digits, - and _ that begins with a letter, as comments use it';
  if (name.toLowerCase() === 'none' || parseBoolean(name) !== null)
    return 'is a word of the annotation rate_limit; use another name';
  return null;
}

export const rateLimitsOptions: OptionGroup<RateLimitsOptions> = optionGroup<RateLimitsOptions>(
  'RateLimitsOptions',
  'Rate limits of endpoints.',
  {
    policies: option(
      recordOf(rateLimitPolicyOptions, nameFault),
      {},
      'The policies, by the names that comments select with `rate_limit <policy>`: `{"strict": {"type": "sliding-window", "limit": 10, "window": 60, "partitionBy": "address"}}`. `type`: `fixed-window`, `sliding-window`, `token-bucket` or `concurrency`. `window`: seconds, 60 by default. `partitionBy`: `address` (the default), `user`, `header` with the name of the header in `header`, or `none`. Endpoints with one policy count together.',
    ),
    defaultPolicy: option(
      nullable(nonEmptyString),
      null,
      'The policy of endpoints whose comment has no `rate_limit`; null: they have no limit.',
    ),
    store: option(
      nullable(
        implementation<RateLimitStore>('RateLimitStore', '../../ports/rate-limit-store.ts', [
          'acquire',
          'release',
          'close',
        ]),
      ),
      null,
      'Counts the requests. The gateway opens and closes it. Null: memory of this process.',
    ),
    maxKeys: option(
      integer({ min: 1, max: 10_000_000 }),
      100_000,
      'Maximum number of keys (addresses, users, header values) of each policy in memory; the least recently used is evicted.',
    ),
    whenUnavailable: option(
      oneOf('allow', 'refuse'),
      'allow',
      'Whether requests pass, or are answered 503, while the store (Redis) is unavailable.',
    ),
  },
  { check: defaultPolicyFaults },
);

function defaultPolicyFaults(value: Readonly<Record<string, unknown>>): readonly Fault[] {
  const { policies = {}, defaultPolicy = null } = value as Partial<RateLimitsOptions>;
  if (defaultPolicy === null || Object.hasOwn(policies, defaultPolicy)) return [];
  const near = nearestName(defaultPolicy, Object.keys(policies));
  const hint = near === null ? 'define it, or remove defaultPolicy' : `did you mean ${JSON.stringify(near)}?`;
  const name = JSON.stringify(defaultPolicy.slice(0, 80));
  return [{ path: ['defaultPolicy'], message: `no policy of rateLimits.policies is named ${name}`, hint }];
}
