import { expect, test } from 'vitest';
import { rateLimitOptions } from '../src/rate-limit-options.ts';
import { issuesOf, load } from './support/configuration.ts';

test('the configuration becomes options of the gateway', async () => {
  const { configuration } = await load({
    files: {
      'pgway.json': {
        rateLimits: {
          policies: {
            strict: { type: 'fixed-window', limit: 10 },
            keys: { type: 'token-bucket', limit: 5, window: 1, partitionBy: 'header', header: 'X-API-Key' },
          },
          defaultPolicy: 'strict',
          whenUnavailable: 'refuse',
        },
      },
    },
  });
  expect(rateLimitOptions(configuration)).toEqual({
    policies: {
      strict: { type: 'fixed-window', limit: 10 },
      keys: { type: 'token-bucket', limit: 5, window: 1, partitionBy: 'header', header: 'X-API-Key' },
    },
    defaultPolicy: 'strict',
    whenUnavailable: 'refuse',
  });
});

test('policies may come from a variable; Redis is used only with a policy', async () => {
  const { configuration } = await load({
    environment: {
      PGWAY_RATE_LIMITS_POLICIES: '{"strict":{"type":"concurrency","limit":2}}',
      PGWAY_REDIS_RATE_LIMITS_URL: 'redis://localhost',
    },
  });
  expect(rateLimitOptions(configuration)).toMatchObject({
    policies: { strict: { type: 'concurrency', limit: 2 } },
    store: { acquire: expect.any(Function) },
  });
  const other = await load({ environment: { PGWAY_REDIS_RATE_LIMITS_URL: 'redis://localhost' } });
  expect(rateLimitOptions(other.configuration).store).toBe(undefined);
});

test('all faults are reported together, with their places', async () => {
  const issues = await issuesOf({
    files: {
      'pgway.json': {
        rateLimits: {
          policies: {
            none: { type: 'fixed-window', limit: 1 },
            'a b': { type: 'fixed-window', limit: 1 },
            empty: {},
            wrong: { type: 'fixed', limit: 0, window: 0.5, partitionBy: 'ip' },
            unknown: { type: 'fixed-window', limit: 1, windw: 5, seconds: 5 },
            parallel: { type: 'concurrency', limit: 1, window: 60 },
            header: { type: 'fixed-window', limit: 1, partitionBy: 'header' },
            unused: { type: 'fixed-window', limit: 1, header: 'x-key' },
          },
        },
        redisRateLimits: { url: 'redis://:password@host' },
      },
    },
  });
  expect(issues).toMatchInlineSnapshot(`
    [
      "rateLimits.policies.none: is a word of the annotation rate_limit; use another name (in pgway.json:1)",
      "rateLimits.policies["a b"]: must be a name of at most 64 letters, digits, - and _ that begins with a letter, as comments use it (in pgway.json:1)",
      "rateLimits.policies.empty.type: is missing; it must be one of "fixed-window", "sliding-window", "token-bucket", "concurrency" (in pgway.json:1)",
      "rateLimits.policies.empty.limit: is missing; it must be a whole number from 1 to 1000000 (in pgway.json:1)",
      "rateLimits.policies.wrong.type: must be one of "fixed-window", "sliding-window", "token-bucket", "concurrency", not "fixed" (in pgway.json:1)",
      "rateLimits.policies.wrong.limit: must be a whole number from 1 to 1000000, not 0 (in pgway.json:1)",
      "rateLimits.policies.wrong.window: must be a whole number from 1 to 86400, not 0.5 (in pgway.json:1)",
      "rateLimits.policies.wrong.partitionBy: must be one of "address", "user", "header", "none", not "ip" (in pgway.json:1)",
      "rateLimits.policies.unknown.windw: unknown option; did you mean rateLimits.policies.unknown.window? (in pgway.json:1)",
      "rateLimits.policies.unknown.seconds: unknown option; rateLimits.policies.unknown takes type, limit, window, partitionBy, header (in pgway.json:1)",
      "rateLimits.policies.parallel.window: must be absent for a concurrency policy (in pgway.json:1)",
      "rateLimits.policies.header.header: is missing; partitionBy header needs it (in pgway.json:1)",
      "rateLimits.policies.unused.header: must be absent without partitionBy header (in pgway.json:1)",
    ]
  `);
});

test('the default policy must exist', async () => {
  const issues = (defaultPolicy: string) =>
    issuesOf({
      files: {
        'pgway.json': { rateLimits: { policies: { strict: { type: 'concurrency', limit: 1 } }, defaultPolicy } },
      },
    });
  expect([await issues('stric'), await issues('other')]).toEqual([
    [
      'rateLimits.defaultPolicy: no policy of rateLimits.policies is named "stric"; did you mean "strict"? (in pgway.json:1)',
    ],
    [
      'rateLimits.defaultPolicy: no policy of rateLimits.policies is named "other"; define it, or remove defaultPolicy (in pgway.json:1)',
    ],
  ]);
});
