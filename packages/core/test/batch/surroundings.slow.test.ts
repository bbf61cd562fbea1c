import { createGateway, type Gateway, installIdempotency, type Observation } from '@pgway/core';
import { freshDatabase, pgbouncerVersion, startGateway, startPgBouncer } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { userByHeader } from '../rate-limits/support.ts';
import { startTenants } from '../tenants/support.ts';

/** Batches, with and without an idempotency key, behind poolers, with tenants, and as observers see them. */

const sql = `
  create table payment (id int generated always as identity primary key, amount int unique);
  create function pay(_amount int) returns int language sql as
  $$ insert into payment (amount) values (_amount) returning id $$;
  comment on function pay is 'HTTP POST';
  create function payments() returns setof payment language sql stable as $$ select * from payment order by id $$;
  comment on function payments is 'HTTP GET';
  create function place() returns text language sql stable as $$ select current_database()::text $$;
  comment on function place is 'HTTP GET';
`;
const store = installIdempotency({ schema: 'pgway', roles: [] }).join(';\n');

const pay = (amount: unknown): object => ({ method: 'POST', path: '/api/pay', body: { amount } });
const list = { method: 'GET', path: '/api/payments' };
const place = { method: 'GET', path: '/api/place' };

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

async function send(gateway: Gateway, requests: readonly object[], key: string | null = null): Promise<Answer> {
  const response = await gateway.fetch(
    new Request('http://localhost/batch', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'idempotency-key': key }) },
      body: JSON.stringify(requests),
    }),
  );
  return toAnswer(response!);
}

async function toAnswer(response: Response): Promise<Answer> {
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status: response.status, replayed, body: await response.json() };
}

const version = await pgbouncerVersion();

describe.skipIf(version === null)('behind PgBouncer in transaction mode', () => {
  // Only PgBouncer 1.21 and later keeps the names of statements apart.
  const modes = version?.startsWith('1.1') === true ? [false] : [false, true];

  test.each(modes)('prepared statements: %s', async (preparedStatements) => {
    const database = await freshDatabase(`${store}; ${sql}`);
    const pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: 2 });
    const gateway = await createGateway({
      connectionString: pooler.connectionString,
      pooler: 'transaction',
      preparedStatements,
      poolSize: 6,
      batchPath: '/batch',
    });
    onTestFinished(async () => {
      await gateway.close();
      await pooler.stop();
      await database.drop();
    });
    const reference = { method: 'POST', path: '/api/pay', body: { amount: { $ref: '1/0/id' } } };
    for (const key of [null, 'key-1']) {
      const batches = Array.from({ length: 12 }, (_, index) => {
        const amount = (key === null ? 1_000 : 2_000) + index;
        return [amount, send(gateway, [pay(amount), list], key === null ? null : `${key}-${amount}`)] as const;
      });
      for (const [amount, sending] of batches) {
        const { status, body } = await sending;
        const rows = (body as readonly { readonly body: unknown }[])[1]!.body;
        expect([status, rows]).toEqual([200, expect.arrayContaining([expect.objectContaining({ amount })])]);
      }
    }
    // A transaction of several round trips, and one that fails.
    const referring = [pay(7_000), list, reference];
    expect(await send(gateway, [...referring, pay(7_000)])).toMatchObject({ status: 409, body: { pointer: '/3' } });
    const first = await send(gateway, [pay(5_000), list], 'key-2');
    expect(first).toMatchObject({ status: 200, replayed: false });
    expect(await send(gateway, [pay(5_000), list], 'key-2')).toEqual({ ...first, replayed: true });
    const [row] = await database.query('select count(*)::int as count from payment');
    expect(row).toEqual({ count: 25 });
  });
});

test('each tenant has keys of its own, and one without the table gets a 503', async () => {
  const tenants = await startTenants(['acme', 'beta', 'gamma'], `${store}; ${sql}`, { batchPath: '/batch' });
  onTestFinished(() => tenants.close());
  await tenants.databases['gamma']!.query('drop function pgway.claim_idempotency_key');
  const sendTo = async (tenant: string): Promise<Answer> => {
    const headers = { 'idempotency-key': 'key-1' };
    return toAnswer(await tenants.send(tenant, 'POST /batch', { headers, body: [pay(7), place] }));
  };
  for (const tenant of ['acme', 'beta']) {
    const first = await sendTo(tenant);
    const database = new URL(tenants.databases[tenant]!.connectionString).pathname.slice(1);
    const body = [
      { status: 200, body: '1' },
      { status: 200, body: database },
    ];
    expect(first).toEqual({ status: 200, replayed: false, body });
    expect(await sendTo(tenant)).toEqual({ ...first, replayed: true });
  }
  expect(await sendTo('gamma')).toMatchObject({
    status: 503,
    body: { type: 'urn:pgway:problem:idempotency-unavailable' },
  });
  expect(await tenants.databases['gamma']!.query('select * from payment')).toEqual([]);
});

test('observers see one request with its caller, and the call of each item', async () => {
  const observations: Observation[] = [];
  const gateway = await startGateway(`${store}; ${sql}`, {
    batchPath: '/batch',
    observeRequests: true,
    authentication: { schemes: [userByHeader], databaseRole: null },
    observer: (observation) => void observations.push(observation),
  });
  onTestFinished(() => gateway.close());
  const see = async (requests: readonly object[], key: string | null): Promise<unknown> => {
    observations.length = 0;
    const headers = { 'x-user': 'ada', ...(key === null ? {} : { 'idempotency-key': key }) };
    await gateway.send('POST /batch', { body: requests, headers });
    return observations.flatMap((observation): readonly object[] => {
      if (observation.kind === 'request-handled') {
        const { route, path, endpoint, caller } = observation;
        return [{ route, path, endpoint, claims: caller?.claims ?? null }];
      }
      if (observation.kind !== 'call-completed') return [];
      const { request, endpoint, rows } = observation;
      return [{ call: endpoint.id, path: request.path, rows }];
    });
  };
  const handled = { route: '/batch', path: '/batch', endpoint: null };
  const calls = [
    { call: 'public.pay(_amount integer)', path: '/api/pay', rows: 1 },
    { call: 'public.payments()', path: '/api/payments', rows: expect.any(Number) as number },
  ];
  const claims = expect.arrayContaining([expect.arrayContaining(['ada'])]) as unknown;
  expect(await see([pay(1), list], null)).toEqual([...calls, { ...handled, claims: null }]);
  expect(await see([pay(2), list], 'key-1')).toEqual([...calls, { ...handled, claims }]);
  expect(await see([pay(2), list], 'key-1')).toEqual([{ ...handled, claims }]);
  expect(await see([pay(2), pay('x')], null)).toEqual([{ ...handled, claims: null }]);
});
