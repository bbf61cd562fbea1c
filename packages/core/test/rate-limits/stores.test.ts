import { createGateway, type Observation, type RateLimitStore, type RateLimitStoreState } from '@pgway/core';
import { startGateway, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStream } from '../events/support.ts';
import { RecordingStore, userByHeader } from './support.ts';

/** Stores of the host: asynchronous ones, and stores that fail. */

const policies = {
  strict: { type: 'fixed-window', limit: 1 },
  parallel: { type: 'concurrency', limit: 1 },
  personal: { type: 'fixed-window', limit: 1, partitionBy: 'user' },
} as const;

const sql = `
  create function strict() returns text language sql stable as $$ select 'hello' $$;
  comment on function strict is E'HTTP GET\\nrate_limit strict';
  create function personal() returns text language sql stable as $$ select 'hello' $$;
  comment on function personal is E'HTTP GET\\nauthorize\\nrate_limit personal';
  create function unlimited() returns text language sql stable as $$ select 'hello' $$;
  comment on function unlimited is E'HTTP GET';
  create function told() returns void language plpgsql as $$ begin raise info 'hello'; end $$;
  comment on function told is E'HTTP POST\\ninfo_path\\ninfo_scope all\\nrate_limit parallel';
`;

/** A store that answers later, as one in another process does. */
function later(store: RecordingStore): RateLimitStore {
  return {
    acquire: async (policy, key) => {
      await new Promise(setImmediate);
      return store.acquire(policy, key);
    },
    release: (policy, key) => store.release(policy, key),
    close: () => store.close(),
  };
}

test('a store may answer later', async () => {
  const store = new RecordingStore();
  const gateway = await startGateway(sql, {
    rateLimits: { store: later(store), policies },
    authentication: { schemes: [userByHeader] },
  });
  onTestFinished(() => gateway.close());
  const status = async (line: string, headers = {}): Promise<number> => (await gateway.send(line, { headers })).status;
  expect([await status('GET /api/strict'), await status('GET /api/strict')]).toEqual([200, 429]);
  const ada = { 'x-user': 'ada' };
  expect([await status('GET /api/personal', ada), await status('GET /api/personal', ada)]).toEqual([200, 429]);
  expect([await status('GET /api/personal'), await status('GET /api/personal')]).toEqual([401, 429]);
  const stream = await openStream(gateway.url, '/api/told/info');
  expect([stream.status, await status('POST /api/told')]).toEqual([200, 429]);
  stream.close();
  await expect.poll(() => store.permits).toBe(0);
  // A client that disconnects while it waits for the store.
  const leaving = new AbortController();
  const gone = fetch(`${gateway.url}/api/told`, { method: 'POST', signal: leaving.signal }).catch(() => 'gone');
  leaving.abort();
  expect(await gone).toBe('gone');
  await expect.poll(() => status('POST /api/told')).toBe(204);
  await expect.poll(() => store.permits).toBe(0);
});

describe('a store that is unavailable', () => {
  const database = useDatabase(sql);

  async function start(whenUnavailable: 'allow' | 'refuse') {
    const observations: Observation[] = [];
    const lines: unknown[] = [];
    const write = (fields: object, message: string): void => void lines.push([message, 'error' in fields]);
    let report!: (state: RateLimitStoreState) => void;
    let isClosed = false;
    const store: RateLimitStore = {
      open: async (given) => void (report = given),
      acquire: () => null,
      release: () => expect.fail('there is no permit'),
      close: () => void (isClosed = true),
    };
    const gateway = await createGateway({
      connectionString: database.connectionString,
      rateLimits: { store, policies, whenUnavailable },
      observer: (observation) => void observations.push(observation),
      logger: { debug: () => undefined, info: write, warn: write, error: write },
      logAnnotationSetInfo: false,
      logEndpointCreatedInfo: false,
    });
    onTestFinished(() => gateway.close());
    const send = async (path: string): Promise<unknown> => {
      const response = (await gateway.fetch(new Request(`http://localhost${path}`)))!;
      return [
        response.status,
        response.headers.get('ratelimit'),
        response.headers.get('retry-after'),
        await response.text(),
      ];
    };
    return { gateway, send, report, observations, lines, isClosed: () => isClosed };
  }

  test('limits nothing, and the log and health say so', async () => {
    const { gateway, send, report, observations, lines, isClosed } = await start('allow');
    expect(gateway.health().rateLimits).toBe(null);
    const error = new Error('Redis is away');
    report({ unavailable: error });
    expect([await send('/api/strict'), await send('/api/strict')]).toEqual([
      [200, null, null, 'hello'],
      [200, null, null, 'hello'],
    ]);
    expect(gateway.health().rateLimits).toBe('Redis is away');
    report({ unavailable: null });
    expect(gateway.health().rateLimits).toBe(null);
    expect(observations.filter(({ kind }) => kind.startsWith('rate-limits'))).toEqual([
      { kind: 'rate-limits-unavailable', error, requests: 'allowed' },
      { kind: 'rate-limits-available' },
    ]);
    expect(lines.slice(-2)).toEqual([
      ['the store of rate limits is unavailable; requests are not limited', true],
      ['the store of rate limits is available again', false],
    ]);
    await gateway.close();
    expect(isClosed()).toBe(true);
  });

  test('refuses the requests of limited endpoints, if the host wants that', async () => {
    const { send, report, lines } = await start('refuse');
    report({ unavailable: new Error('Redis is away') });
    const problem = '"title":"The rate limit cannot be checked now","status":503';
    expect([await send('/api/strict'), await send('/api/unlimited')]).toEqual([
      [503, null, '1', expect.stringContaining(problem)],
      [200, null, null, 'hello'],
    ]);
    expect(lines).toContainEqual(['the store of rate limits is unavailable; requests are refused', true]);
  });

  test('a store that cannot work fails the start', async () => {
    const store: RateLimitStore = {
      open: async () => {
        throw new Error('there is no such host');
      },
      acquire: () => null,
      release: () => undefined,
      close: () => undefined,
    };
    await expect(
      createGateway({ connectionString: database.connectionString, rateLimits: { store, policies } }),
    ).rejects.toThrow('rateLimits.store: there is no such host');
  });
});
