import { IncomingMessage } from 'node:http';
import { createHmac } from 'node:crypto';
import type { Observation } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** Observations for access logs: the option `observeRequests`. */

const sql = `
  create function numbers(_to int) returns setof int language sql as $$ select generate_series(1, _to) $$;
  comment on function numbers is 'HTTP GET';
  create function mine() returns text language sql as $$ select 'mine' $$;
  comment on function mine is 'HTTP GET
  authorize
  info_path';
  create function reset(_token text, _x int) returns text language sql as $$ select 'done' $$;
  comment on function reset is 'HTTP GET /reset/{_token}';
`;

const secret = 'a-secret-of-more-than-32-characters-0';
const gateway = useGateway(sql, {
  observeRequests: true,
  authentication: { jwt: { keys: [{ secret }], production: false } },
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(name: string): string {
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ name, exp: 4_000_000_000 })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

type Line = readonly [kind: string, ...facts: unknown[]];

/** Sends a request and returns its observations in short. */
async function observe(line: string, headers: Readonly<Record<string, string>> = {}): Promise<readonly Line[]> {
  const begin = gateway.observations.length;
  await gateway.send(line, { headers });
  return gateway.observations.slice(begin).flatMap(describeObservation);
}

function describeObservation(observation: Observation): readonly Line[] {
  switch (observation.kind) {
    case 'request-handled': {
      const { path, endpoint, caller, route, isEventStream } = observation;
      const name = caller?.claims.find(([claim]) => claim === 'name')?.[1] ?? null;
      return [['handled', path, endpoint?.id ?? null, name, route, ...(isEventStream ? ['stream'] : [])]];
    }
    case 'call-completed':
      return [['call', observation.endpoint.id, observation.rows]];
    default:
      return [];
  }
}

const numbers = 'public.numbers(_to integer)';

test('a call: rows, time in the database, endpoint', async () => {
  expect(await observe('GET /api/numbers?to=3')).toEqual([
    ['call', numbers, 3],
    ['handled', '/api/numbers', numbers, null, '/api/numbers'],
  ]);
  const call = gateway.observations.find((each) => each.kind === 'call-completed');
  expect(call?.milliseconds).toBeGreaterThan(0);
});

test('a streamed response: its call ends after its begin', async () => {
  expect(await observe('GET /api/numbers?to=100000')).toEqual([
    ['handled', '/api/numbers', numbers, null, '/api/numbers'],
    ['call', numbers, 100_000],
  ]);
});

test('refused requests have no call, and an endpoint where it is known', async () => {
  expect(await observe('GET /api/numbers?to=x')).toEqual([['handled', '/api/numbers', numbers, null, '/api/numbers']]);
  expect(await observe('GET /api/mine')).toEqual([['handled', '/api/mine', 'public.mine()', null, '/api/mine']]);
  expect(await observe('GET /none?x=1')).toEqual([['handled', '/none', null, null, null]]);
  expect(await observe('POST /api/numbers')).toEqual([['handled', '/api/numbers', null, null, '/api/numbers']]);
});

test('the caller of a call', async () => {
  const headers = { authorization: `Bearer ${tokenOf('ada')}` };
  expect(await observe('GET /api/mine', headers)).toEqual([
    ['call', 'public.mine()', 1],
    ['handled', '/api/mine', 'public.mine()', 'ada', '/api/mine'],
  ]);
  expect(await observe('HEAD /api/mine/info', headers)).toEqual([
    ['handled', '/api/mine/info', 'public.mine()', 'ada', '/api/mine/info', 'stream'],
  ]);
});

test('a path with a secret is that of the endpoint, whatever the method and the outcome', async () => {
  const id = 'public.reset(_token text, _x integer)';
  const path = '/reset/{_token}';
  expect((await observe('GET /reset/geheim?x=1')).at(-1)).toEqual(['handled', path, id, null, path]);
  expect(await observe('GET /reset/geheim?x=a')).toEqual([['handled', path, id, null, path]]);
  expect(await observe('DELETE /reset/geheim')).toEqual([['handled', path, null, null, path]]);
  expect(await observe('OPTIONS /reset/geheim')).toEqual([['handled', path, null, null, path]]);
});

test('the observations have the request of the host, and the address behind trusted proxies', async () => {
  const observations: Observation[] = [];
  const own = await startGateway(sql, {
    observer: (observation) => void observations.push(observation),
    observeRequests: true,
    authentication: { trustedProxies: ['loopback'] },
  });
  await own.send('GET /api/numbers?to=1', { headers: { 'x-forwarded-for': '203.0.113.7' } });
  const request = new Request('http://localhost/api/numbers?to=2');
  await own.gateway.fetch(request);
  const requests = observations.flatMap((each) => (each.kind === 'request-handled' ? [each.request] : []));
  expect(
    requests.map(({ raw, remoteAddress }) => [raw instanceof IncomingMessage, raw === request, remoteAddress]),
  ).toEqual([
    [true, false, '203.0.113.7'],
    [false, true, undefined],
  ]);
  await own.close();
});

test('the refresh route', async () => {
  const own = await startGateway(sql, { observeRequests: true, refreshEndpointEnabled: true });
  await own.send('POST /api/gateway/refresh');
  expect(own.observations.flatMap(describeObservation)).toEqual([
    ['handled', '/api/gateway/refresh', null, null, '/api/gateway/refresh'],
  ]);
  await own.close();
});

test('without the option, no request is observed', async () => {
  const own = await startGateway(sql);
  await own.send('GET /api/numbers?to=3');
  await own.send('GET /none');
  expect(own.observations.flatMap(describeObservation)).toEqual([]);
  await own.close();
});
