import {
  nonEmptyString,
  number,
  option,
  optionGroup,
  type OptionGroup,
  requiredOption,
  secret,
  string,
} from '@pgway/core/internal';
import type { RedisBroadcastOptions, RedisCacheOptions, RedisRateLimitsOptions } from './options.generated.ts';

export type { RedisBroadcastOptions, RedisCacheOptions, RedisRateLimitsOptions } from './options.generated.ts';

const isPartial = true;
const forms =
  '`redis://user:password@host:6379/0`, `rediss://…` for TLS, or `redis-sentinel://host:26379,host:26379/name` for Sentinel.';

export const redisCacheOptions: OptionGroup<RedisCacheOptions> = optionGroup<RedisCacheOptions>(
  'RedisCacheOptions',
  'The response cache in Redis or Valkey.',
  {
    url: requiredOption(secret, `The server of the cache, which several instances share: ${forms}`),
    prefix: option(
      string,
      'pgway',
      'Prefix of every key; instances with the same prefix share their cache, so they must serve the same database.',
    ),
    timeout: option(
      number({ above: 0, max: 60 }),
      0.5,
      'Seconds before a Redis command times out and the request continues without the cache.',
    ),
    maxAge: option(
      number({ above: 0, max: 31_536_000 }),
      86_400,
      'Maximum seconds that a response stays in Redis, whatever its endpoint says.',
    ),
  },
  { isPartial },
);

export const redisRateLimitsOptions: OptionGroup<RedisRateLimitsOptions> = optionGroup<RedisRateLimitsOptions>(
  'RedisRateLimitsOptions',
  'The rate limits in Redis or Valkey.',
  {
    url: requiredOption(secret, `The server that counts requests, so that several instances count together: ${forms}`),
    prefix: option(string, 'pgway', 'Prefix of every key; instances with the same prefix count together.'),
    timeout: option(
      number({ above: 0, max: 60 }),
      0.1,
      'Seconds that a request waits for Redis before Redis counts as unavailable.',
    ),
    lease: option(
      number({ min: 0.1, max: 3_600 }),
      15,
      'Seconds after which concurrent requests of an instance that has crashed no longer count.',
    ),
  },
  { isPartial },
);

export const redisBroadcastOptions: OptionGroup<RedisBroadcastOptions> = optionGroup<RedisBroadcastOptions>(
  'RedisBroadcastOptions',
  'The broadcast through Redis or Valkey.',
  {
    url: requiredOption(secret, `The server of the broadcast: ${forms}`),
    channel: option(nonEmptyString, 'pgway', 'The channel that the instances of a gateway share.'),
  },
  { isPartial },
);
