import type { GatewayOptions } from '@pgway/core';
import { holdLock, startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const sql = `
  create function first() returns text language sql stable as $$ select 'one' $$;
  comment on function first is 'HTTP GET';
`;
const second = `
  create function second() returns text language sql stable as $$ select 'two' $$;
  comment on function second is 'HTTP GET';
`;

const gateway = useGateway(sql, { refreshEndpointEnabled: true });

test('the refresh route reads the catalog again: 204, and the new endpoint exists', async () => {
  expect((await gateway.send('GET /api/second')).status).toBe(404);
  await gateway.database.query(second);
  const { status, body } = await gateway.send('POST /api/gateway/refresh');
  expect({ status, body }).toEqual({ status: 204, body: '' });
  expect((await gateway.send('GET /api/second')).body).toBe('two');
});

test('the refresh route does not exist by default', async () => {
  const closed = await startGateway(sql);
  expect((await closed.send('POST /api/gateway/refresh')).status).toBe(404);
  await closed.close();
});

test.each(['internal/reload', '/internal/reload/'])('slashes around its path are optional: %s', async (refreshPath) => {
  const other = await startGateway(sql, { refreshEndpointEnabled: true, refreshPath });
  for (const path of ['/internal/reload', '/internal/reload/']) {
    expect([path, (await other.send(`POST ${path}`)).status]).toEqual([path, 204]);
  }
  await other.close();
});

test('method and path of the refresh route are options', async () => {
  const other = await startGateway(sql, {
    refreshEndpointEnabled: true,
    refreshMethod: 'GET',
    refreshPath: '/internal/reload',
  });
  expect((await other.send('GET /internal/reload')).status).toBe(204);
  expect((await other.send('POST /internal/reload')).status).toBe(405);
  await other.close();
});

test('refreshRoles: an anonymous caller gets 401, and the catalog is not read', async () => {
  const guarded = await startGateway(sql, { refreshEndpointEnabled: true, refreshRoles: ['admin'] });
  await guarded.database.query(second);
  const { status, body } = await guarded.send('POST /api/gateway/refresh');
  expect([status, (JSON.parse(body) as { type: string }).type]).toEqual([401, 'urn:pgway:problem:unauthenticated']);
  expect((await guarded.send('GET /api/second')).status).toBe(404);
  await guarded.close();
});

describe('a refresh that fails', () => {
  const failing = (options: Partial<GatewayOptions> = {}): ReturnType<typeof startGateway> => {
    let calls = 0;
    return startGateway(
      `${sql}
      create function login(_name text) returns table (name text) language sql as $$ select _name $$;
      comment on function login is 'HTTP
      login';`,
      {
        refreshEndpointEnabled: true,
        authentication: { bearer: true },
        endpointsCreated: () => {
          if (calls++ > 0) throw new Error('connect ECONNREFUSED 10.1.2.3:5432');
        },
        ...options,
      },
    );
  };
  const refreshBy = async (gateway: TestGateway, signedIn: boolean): Promise<Record<string, unknown>> => {
    const { body: tokens } = await gateway.send('POST /api/login', { body: { name: 'ada' } });
    const { access_token: token } = JSON.parse(tokens) as Record<string, string>;
    const headers: Record<string, string> = signedIn ? { authorization: `Bearer ${token}` } : {};
    const { status, body } = await gateway.send('POST /api/gateway/refresh', { headers });
    return { status, ...(JSON.parse(body) as Record<string, unknown>) };
  };
  const untold = {
    type: 'urn:pgway:problem:refresh-failed',
    title: 'The endpoints could not be reloaded; the old ones stay in use',
    status: 500,
    correlationId: expect.stringMatching(/^[\w-]+$/) as unknown,
  };
  const detail = 'endpointsCreated failed: connect ECONNREFUSED 10.1.2.3:5432';

  test('gives an anonymous caller the correlation id of the log line with the reason; the old endpoints stay', async () => {
    const gateway = await failing();
    const answer = await refreshBy(gateway, false);
    expect(answer).toEqual(untold);
    expect(gateway.observations.findLast((one) => one.kind === 'request-failed')).toMatchObject({
      status: 500,
      endpoint: null,
      correlationId: answer['correlationId'],
      error: { message: detail },
    });
    expect((await gateway.send('GET /api/first')).body).toBe('one');
    await gateway.close();
  });

  test('gives a signed-in caller the reason, unless returnGatewayExceptionMessage is off', async () => {
    const open = await failing();
    expect(await refreshBy(open, true)).toEqual({ ...untold, detail });
    await open.close();
    const closed = await failing({ returnGatewayExceptionMessage: false });
    expect(await refreshBy(closed, true)).toEqual(untold);
    await closed.close();
  });
});

describe('a cross-site refresh', () => {
  test.each(['POST', 'GET'] as const)('is rejected for %s, with and without a cookie', async (refreshMethod) => {
    const guarded = await startGateway(
      `create function login(_name text) returns table (name text) language sql as $$ select _name $$;
      comment on function login is 'HTTP
      login';`,
      { refreshEndpointEnabled: true, refreshMethod, authentication: { cookie: true } },
    );
    const signedIn = await guarded.send('POST /api/login', { body: { name: 'ada' } });
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const refresh = async (headers: Record<string, string>): Promise<number> =>
      (await guarded.send(`${refreshMethod} /api/gateway/refresh`, { headers })).status;
    expect(await refresh({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await refresh({ origin: 'https://evil.example' })).toBe(403);
    expect(await refresh({ cookie, 'sec-fetch-site': 'cross-site' })).toBe(403);
    // A request with a cookie needs a header with its origin.
    expect(await refresh({ cookie })).toBe(403);
    expect(await refresh({ cookie, 'sec-fetch-site': 'same-origin' })).toBe(204);
    expect(await refresh({ 'sec-fetch-site': 'same-origin' })).toBe(204);
    expect(await refresh({})).toBe(204);
    await guarded.close();
  });
});

test('a request that runs during a refresh completes with the old endpoints', async () => {
  const busy = await startGateway(`
    create function slow() returns text language sql volatile as $$ select 'old' from pg_advisory_xact_lock(1) $$;
    comment on function slow is 'HTTP GET';
  `);
  const lock = await holdLock(busy.database.connectionString, 1);
  const running = busy.send('GET /api/slow');
  await expect.poll(() => lock.waiting()).toBe(1);
  await busy.database.query(`comment on function slow is null; ${second}`);
  await busy.gateway.refresh();
  expect(busy.gateway.endpoints.map(({ name }) => name)).toEqual(['second']);
  await lock.release();
  expect((await running).body).toBe('old');
  await busy.close();
});

test('a routine at the method and path of a built-in route is not published and causes a diagnostic', async () => {
  const other = await startGateway(
    `${sql}
    create function shadowed() returns text language sql as $$ select 'never' $$;
    comment on function shadowed is 'HTTP POST /internal/reload/';
    create function beside() returns text language sql stable as $$ select 'read' $$;
    comment on function beside is 'HTTP GET /internal/reload';
    create function any_other(_name text) returns text language sql stable as $$ select _name $$;
    comment on function any_other is 'HTTP GET /internal/{_name}';
    create function refreshed() returns text language sql as $$ select 'never' $$;
    comment on function refreshed is 'HTTP POST /api/auth/refresh';
    create function token() returns text language sql stable as $$ select 'never' $$;
    comment on function token is 'HTTP GET /api/proof';`,
    {
      refreshEndpointEnabled: true,
      refreshPath: 'internal/reload',
      logAnnotationSetInfo: false,
      authentication: { bearer: true, antiforgeryPath: '/api/proof' },
    },
  );
  const told = (method: string, path: string, routine: string): object => ({
    severity: 'error',
    code: 'duplicate-route',
    routine,
    line: null,
    message: `${method} "${path}" is a built-in route, so the routine is not published; set another path for the routine, or for the built-in route by its option`,
  });
  const expected = [
    told('POST', '/api/auth/refresh', 'public.refreshed()'),
    told('POST', '/internal/reload/', 'public.shadowed()'),
    told('GET', '/api/proof', 'public.token()'),
  ];
  expect(other.gateway.diagnostics).toEqual(expected);
  expect(other.observations.filter(({ kind }) => kind === 'diagnostic')).toEqual(
    expected.map((diagnostic) => ({ kind: 'diagnostic', diagnostic })),
  );
  expect(other.gateway.endpoints.map(({ name }) => name)).toEqual(['any_other', 'beside', 'first']);
  expect((await other.send('POST /internal/reload')).status).toBe(204);
  expect((await other.send('GET /internal/reload')).body).toBe('read');
  expect((await other.send('GET /internal/else')).body).toBe('else');
  await other.close();
});
