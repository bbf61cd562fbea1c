import {
  createGateway,
  type Gateway,
  loginRateLimiter,
  memoryKeyStorage,
  memorySessions,
  rateLimiter,
  type SessionStore,
} from '@pgway/core';
import { quickHasher, useDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cookieOf, ownPage, people } from './people.ts';

const database = useDatabase(`${people}
  create function sleep() returns void language sql as $$ select pg_sleep(0.2) $$;
  comment on function sleep is 'HTTP POST';
  create function register(_password text, _hash text default null) returns boolean language sql as $$ select _hash is not null $$;
  comment on function register is 'HTTP POST
  param _hash is hash of _password';
`);

/** The services that a host with several processes shares. */
function createShared() {
  const [keys, sessions] = [memoryKeyStorage(), memorySessions()];
  const [logins, hashes] = [loginRateLimiter({ perUser: 3 }), rateLimiter({ perAddress: 2 })];
  return {
    dataProtection: { storage: keys },
    wrapSessions: (): SessionStore => sessions,
    // As if the limiter were in another process.
    loginRateLimit: { ...logins, consume: (attempt) => Promise.resolve(logins.consume(attempt)) },
    hashRateLimit: { consume: (address) => Promise.resolve(hashes.consume(address)) },
  } satisfies Parameters<typeof open>[0];
}

async function open(authentication: NonNullable<Parameters<typeof createGateway>[0] & object>['authentication'] = {}) {
  const gateway = await createGateway({
    connectionString: database.connectionString,
    authentication: { cookie: true, passwordHasher: quickHasher, ...authentication },
  });
  onTestFinished(() => gateway.close());
  return gateway;
}

function post(gateway: Gateway, path: string, body: object, cookie = ''): Promise<Response> {
  const headers = { ...ownPage, 'content-type': 'application/json', ...(cookie === '' ? {} : { cookie }) };
  const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return gateway.fetch(request, { remoteAddress: '192.0.2.1' }) as Promise<Response>;
}

const ada = { user: 'ada', password: 'secret' };

describe('instances that share their state', () => {
  test('a login on one is valid on the other, and a logout ends it on both', async () => {
    const shared = createShared();
    const [one, other] = [await open(shared), await open(shared)];
    const login = await post(one, '/api/login', ada);
    const cookie = cookieOf(login);
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all([one, other].map(async (gateway) => (await post(gateway, '/api/for-members', {}, cookie)).status));
    expect([login.status, await statuses()]).toEqual([200, [200, 200]]);
    expect((await post(other, '/api/logout', {}, cookie)).status).toBe(200);
    expect(await statuses()).toEqual([401, 401]);
  });

  test('failed logins and hashes count together, also when the limiter answers later', async () => {
    const shared = createShared();
    const [one, other] = [await open(shared), await open(shared)];
    const wrong = { user: 'ada', password: 'wrong' };
    const logins = [one, other, one, other].map((gateway) => () => post(gateway, '/api/login', wrong));
    const statuses: number[] = [];
    for (const login of logins) statuses.push((await login()).status);
    expect(statuses).toEqual([404, 404, 404, 429]);
    const hashes = await Promise.all(
      [one, other, one].map((gateway) => post(gateway, '/api/register', { password: 'x' })),
    );
    expect(hashes.map(({ status }) => status).filter((status) => status === 429)).toEqual([429]);
  });

  test('without shared state, a cookie is valid on its own instance only', async () => {
    const [one, other] = [await open(), await open()];
    const cookie = cookieOf(await post(one, '/api/login', ada));
    expect((await post(other, '/api/for-members', {}, cookie)).status).toBe(401);
  });

  test('a storage of keys besides a folder is refused', async () => {
    const dataProtection = { storage: memoryKeyStorage(), folder: 'keys' };
    await expect(open({ dataProtection })).rejects.toThrow(
      'dataProtection: set either folder, or readCommand and writeCommand, or storage',
    );
  });
});

test('processes share the pool: each opens its part of the connections', async () => {
  const gateway = await createGateway({ connectionString: database.connectionString, poolSize: 5, processes: 2 });
  onTestFinished(() => gateway.close());
  await Promise.all(Array.from({ length: 6 }, () => post(gateway, '/api/sleep', {})));
  expect(gateway.health().pools).toMatchObject([{ connection: null, size: 2 }]);
});
