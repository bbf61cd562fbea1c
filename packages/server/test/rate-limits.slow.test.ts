import { redisVersion, startRedis, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../src/cli/run.ts';
import { parseConfiguration } from './support/parse-configuration.ts';
import { Lifecycle } from '../src/lifecycle.ts';
import { startGateway, startHttpServer } from '../src/start.ts';
import { folderWith } from './support/folder.ts';
import { createTestProcess } from './support/process-context.ts';

const hasRedis = (await redisVersion()) !== null;

const database = useDatabase(`
  create function hello() returns text language sql stable as $$ select 'Hello' $$;
  comment on function hello is 'HTTP GET
rate_limit few';
  create function free() returns text language sql stable as $$ select 'Hello' $$;
  comment on function free is 'HTTP GET
rate_limit none';
  create function other() returns text language sql stable as $$ select 'Hello' $$;
  comment on function other is 'HTTP GET';
`);

const policies = { few: { type: 'fixed-window', limit: 3, window: 3600 }, all: { type: 'concurrency', limit: 9 } };

/** Serves with this configuration until the test has ended, and returns the address. */
async function serve(file: object): Promise<string> {
  const configuration = parseConfiguration({ port: 0, ...file });
  const lifecycle = new Lifecycle();
  onTestFinished(async () => {
    lifecycle.forceStop();
    await lifecycle.stop();
  });
  const gateway = await startGateway(lifecycle, configuration, database.connectionString, {});
  const { port } = await startHttpServer(lifecycle, configuration, gateway, { handlers: [], certificates: null });
  return `http://127.0.0.1:${port}`;
}

test('pages of other origins may read the headers', async () => {
  const url = await serve({
    rateLimits: { policies },
    cors: { origins: ['https://app.example.org'] },
  });
  const response = await fetch(`${url}/api/hello`, { headers: { origin: 'https://app.example.org' } });
  expect([response.headers.get('ratelimit'), response.headers.get('access-control-expose-headers')]).toEqual([
    '"few";r=2;t=3600',
    'etag, ratelimit, ratelimit-policy, retry-after, x-request-id, x-total-count',
  ]);
});

test('pgway endpoints shows the limit of each endpoint, and where it comes from', async () => {
  const { connectionString } = database;
  const streams = createTestProcess(
    await folderWith({ 'pgway.json': { connectionString, rateLimits: { policies, defaultPolicy: 'all' } } }),
  );
  const code = await run(['endpoints'], {}, streams);
  const lines = streams.text.stdout.split('\n').filter((line) => /^GET|rate_?limit/i.test(line));
  expect([code, lines.map((line) => line.replaceAll(/ {2,}/g, '  '))]).toMatchInlineSnapshot(`
    [
      0,
      [
        "GET /api/free",
        "  rateLimit  none  line 2: set by the comment",
        "  line 2  rate_limit none  sets rateLimit to none",
        "GET /api/hello",
        "  rateLimit  few  line 2: set by the comment",
        "  line 2  rate_limit few  sets rateLimit to few",
        "GET /api/other",
        "  rateLimit  all  option rateLimits.defaultPolicy",
      ],
    ]
  `);
});

describe.skipIf(!hasRedis)('in Redis', () => {
  test('two servers count together; without Redis, requests pass or are refused, and the health check says so', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const file = { rateLimits: { policies }, redisRateLimits: { url: redis.url } };
    const [one, two] = [await serve(file), await serve(file)];
    const strict = await serve({
      ...file,
      rateLimits: { policies, whenUnavailable: 'refuse' },
      health: { details: 'loopback' },
    });
    const status = async (url: string): Promise<number> => (await fetch(`${url}/api/hello`)).status;
    expect([await status(one), await status(two), await status(one)]).toEqual([200, 200, 200]);
    expect([await status(two), await status(one), await status(strict)]).toEqual([429, 429, 429]);
    const health = async (): Promise<unknown> => {
      const { status: overall, checks } = (await (await fetch(`${strict}/health`)).json()) as {
        status: string;
        checks: Record<string, unknown>;
      };
      return [overall, checks['rateLimits']];
    };
    expect(await health()).toEqual(['ok', { status: 'ok' }]);
    await redis.kill();
    await expect.poll(() => status(strict)).toBe(503);
    expect([await status(one), await status(two)]).toEqual([200, 200]);
    expect(await health()).toEqual(['degraded', { status: 'failed', error: expect.any(String) }]);
    await redis.restart();
    await expect.poll(health).toEqual(['ok', { status: 'ok' }]);
    expect(await status(strict)).toBe(200);
  });
});
