import { randomBytes } from 'node:crypto';
import { installIdempotency } from '@pgway/core';
import { holdLock, useGateway } from '@pgway/testing';
import { afterAll, expect, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';

/** An idempotency key of a batch is one key for all of its requests. */

const unique = randomBytes(6).toString('hex');
const member = `batch_key_member_${unique}`;
const guest = `batch_key_guest_${unique}`;

const gateway = useGateway(
  `create role ${member}; create role ${guest};
  ${installIdempotency({ schema: 'pgway', roles: [member] }).join(';\n')};

  create table payment (id int generated always as identity primary key, amount numeric);
  grant select, insert on payment to ${member}, ${guest};

  create function pay(_amount numeric) returns payment language sql as
  $$ insert into payment (amount) values (_amount) returning * $$;
  comment on function pay is 'HTTP POST';

  create function must_pay(_amount numeric) returns int language sql as
  $$ insert into payment (amount) values (_amount) returning id $$;
  comment on function must_pay is 'HTTP POST
  idempotent required';

  create function payments(_from int) returns setof payment language sql stable as
  $$ select * from payment where id >= _from order by id $$;
  comment on function payments is 'HTTP GET';

  create function members_only() returns int language sql as $$ select 1 $$;
  comment on function members_only is 'HTTP POST
  authorize';

  create function wait_for_lock() returns text language sql as $$ select pg_advisory_xact_lock(19)::text $$;
  comment on function wait_for_lock is 'HTTP POST';`,
  {
    batchPath: '/batch',
    idempotency: { maxResponseSize: 1_000 },
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role', anonymous: member } },
  },
);

afterAll(async () => {
  await gateway.database.query(`drop owned by ${member}, ${guest}; drop role ${member}; drop role ${guest}`);
});

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

let next = 0;
const newKey = (): string => `key-${++next}`;
const post = (path: string, body: unknown = {}): object => ({ method: 'POST', path: `/api/${path}`, body });

async function send(
  key: string | null,
  requests: readonly object[],
  headers: Record<string, string> = {},
  query = '',
): Promise<Answer> {
  const response = await gateway.send(`POST /batch${query}`, {
    body: requests,
    headers: { ...headers, ...(key === null ? {} : { 'idempotency-key': key }) },
  });
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status: response.status, replayed, body: JSON.parse(response.body) as unknown };
}

const count = async (): Promise<number> =>
  Number((await gateway.database.query('select count(*) from payment'))[0]!['count']);

test('a repeated batch gets the response of the first one, and runs once', async () => {
  const before = await count();
  const key = newKey();
  const requests = [
    post('pay', { amount: 1.5 }),
    { method: 'GET', path: ['/api/payments?from=', { $ref: '0/id' }] },
    post('must-pay', { amount: 2 }),
  ];
  const first = await send(key, requests);
  expect(first).toEqual({
    status: 200,
    replayed: false,
    body: [
      { status: 200, body: { id: expect.any(Number) as number, amount: 1.5 } },
      { status: 200, body: [{ id: expect.any(Number) as number, amount: 1.5 }] },
      { status: 200, body: expect.stringMatching(/^\d+$/) as string },
    ],
  });
  expect(await send(`"${key}"`, requests)).toEqual({ ...first, replayed: true });
  expect((await count()) - before).toBe(2);
});

test('without a key of the batch, an endpoint that requires one is refused', async () => {
  const before = await count();
  expect(await send(null, [post('pay', { amount: 1 }), post('must-pay', { amount: 1 })])).toMatchObject({
    status: 400,
    body: { type: 'urn:pgway:problem:missing-idempotency-key', pointer: '/1' },
  });
  expect(await count()).toBe(before);
});

test.each([
  ['other requests', [post('pay', { amount: 2 })], ''],
  ['another isolation level', [post('pay', { amount: 1 })], '?isolation=serializable'],
])('%s with the same key are refused', async (_, requests, query) => {
  const key = newKey();
  await send(key, [post('pay', { amount: 1 })]);
  const before = await count();
  expect(await send(key, requests, {}, query)).toMatchObject({
    status: 422,
    body: { type: 'urn:pgway:problem:idempotency-key-reused' },
  });
  expect(await count()).toBe(before);
});

test('a key that is not valid is refused', async () => {
  expect(await send('a b', [post('pay', { amount: 1 })])).toMatchObject({
    status: 400,
    body: { type: 'urn:pgway:problem:invalid-idempotency-key' },
  });
});

test('a request of its own and a batch cannot have the same key', async () => {
  const key = newKey();
  await send(key, [post('must-pay', { amount: 1 })]);
  const { status } = await gateway.send('POST /api/must-pay', {
    body: { amount: 1 },
    headers: { 'idempotency-key': key },
  });
  expect(status).toBe(422);
});

test('a batch that fails stores no key, and runs again', async () => {
  const before = await count();
  const key = newKey();
  const requests = (path: string): object[] => [post('pay', { amount: 1 }), post(path)];
  expect((await send(key, requests('members-only'))).status).toBe(401);
  expect((await send(key, requests('unknown'))).status).toBe(404);
  expect((await send(key, requests('pay?amount=x'))).status).toBe(400);
  expect(await send(key, [post('pay', { amount: 1 })])).toMatchObject({ status: 200, replayed: false });
  expect((await count()) - before).toBe(1);
});

test('a batch gets a 409 while another one with its key runs', async () => {
  const key = newKey();
  const requests = [post('pay', { amount: 1 }), post('wait-for-lock')];
  const lock = await holdLock(gateway.database.connectionString, 19);
  const running = send(key, requests);
  await expect.poll(() => lock.waiting()).toBe(1);
  expect(await send(key, requests)).toMatchObject({
    status: 409,
    body: { type: 'urn:pgway:problem:idempotency-key-in-use' },
  });
  await lock.release();
  expect(await running).toMatchObject({ status: 200, replayed: false });
  expect(await send(key, requests)).toMatchObject({ status: 200, replayed: true });
});

test('of many batches at once with one key, one runs', async () => {
  const before = await count();
  const key = newKey();
  const requests = [post('pay', { amount: 1 })];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      send(key, requests, {}, index % 2 === 0 ? '' : '?isolation=repeatable-read'),
    ),
  );
  expect((await count()) - before).toBe(1);
  expect(answers.filter(({ status, replayed }) => status === 200 && !replayed)).toHaveLength(1);
  expect(answers.filter(({ status }) => ![200, 409, 422].includes(status))).toEqual([]);
});

test('each caller has keys of its own, and the role of the caller may need the privilege', async () => {
  const key = newKey();
  const requests = [post('pay', { amount: 1 }), post('members-only')];
  const first = await send(key, requests, { 'x-role': member });
  expect(first).toMatchObject({ status: 200, replayed: false });
  expect(await send(key, requests, { 'x-role': member })).toEqual({ ...first, replayed: true });
  const before = await count();
  expect(await send(key, requests, { 'x-role': guest })).toMatchObject({
    status: 503,
    body: { type: 'urn:pgway:problem:idempotency-unavailable' },
  });
  expect(await send(key, requests)).toMatchObject({ status: 401 });
  expect(await count()).toBe(before);
});

test('a response that is too large is sent once', async () => {
  const before = await count();
  const key = newKey();
  const requests = Array.from({ length: 40 }, () => post('pay', { amount: 1 }));
  expect(await send(key, requests)).toMatchObject({ status: 200, replayed: false });
  expect(await send(key, requests)).toMatchObject({
    status: 409,
    body: { type: 'urn:pgway:problem:stored-response-unavailable' },
  });
  expect((await count()) - before).toBe(40);
});
