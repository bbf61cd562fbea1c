import { installIdempotency } from '@pgway/core';
import { holdLock, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const gateway = useGateway(
  `
  ${installIdempotency({ schema: 'pgway', roles: ['public'] }).join(';\n')};

  create table payment (id int generated always as identity primary key, amount numeric, note text);

  create function pay(_amount numeric, _note text default null) returns payment language plpgsql as $$
  declare made payment;
  begin
    insert into payment (amount, note) values (_amount, _note) returning * into made;
    if _amount < 0 then raise exception 'a negative amount'; end if;
    return made;
  end $$;
  comment on function pay is 'HTTP POST
  idempotent';

  create function must_pay(_amount numeric) returns int language sql as $$ insert into payment (amount) values (_amount) returning id $$;
  comment on function must_pay is 'HTTP POST
  idempotent required';

  create function pay_all(_amounts numeric[]) returns setof payment language sql as $$
    insert into payment (amount) select unnest(_amounts) returning *
  $$;
  comment on function pay_all is 'HTTP POST
  idempotent';

  create type mixed as (b boolean, c char(3), j jsonb, d date, n numeric[], p point, empty payment, "null" text, t text);
  create function mix() returns setof mixed language sql volatile as $$
    select true, 'x', '{"a": [1, null]}'::jsonb, '2026-01-02'::date, '{1,NULL}'::numeric[], '(1,2)'::point, row(null, null, null)::payment, null::text, E'"quoted", \\\\ \\n ü €'
    union all select null, null, null, null, null, null, null, null, ''
  $$;
  comment on function mix is 'HTTP POST
  idempotent';

  create function note(_note text) returns void language sql as $$ insert into payment (note) values (_note) $$;
  comment on function note is 'HTTP POST
  idempotent';
  create procedure note_by_procedure(_note text) language sql as $$ insert into payment (note) values (_note) $$;
  comment on procedure note_by_procedure is 'HTTP POST
  idempotent';

  create function create_payment(_amount numeric) returns text language plpgsql as $$
  declare made int;
  begin
    insert into payment (amount) values (_amount) returning id into made;
    perform set_config('response.status', '201', true),
      set_config('response.headers', json_build_array(json_build_object('Location', '/payments/' || made))::text, true);
    return 'created';
  end $$;
  comment on function create_payment is 'HTTP POST
  response_settings
  idempotent';

  create function large(_size int) returns text language sql volatile as $$ insert into payment (note) values ('large'); select repeat('x', _size) $$;
  comment on function large is 'HTTP POST
  idempotent';
  create function picture() returns bytea language sql volatile as $$ insert into payment (note) values ('picture'); select '\\x00ff10'::bytea $$;
  comment on function picture is 'HTTP POST
  idempotent';
  create function who(_id text default null) returns text language sql volatile as $$ insert into payment (note) values ('who'); select _id $$;
  comment on function who is 'HTTP POST
  idempotent';
  create function wait_for_lock() returns void language sql as $$ select pg_advisory_xact_lock(7) $$;
  comment on function wait_for_lock is 'HTTP POST
  idempotent';
`,
  { idempotency: { maxResponseSize: 1_000 } },
);

let next = 0;
/** Returns a key that no other test has. */
const newKey = (): string => `key-${++next}`;

async function post(path: string, key: string | null, body: object = {}, headers: Record<string, string> = {}) {
  const response = await gateway.send(`POST /api/${path}`, {
    body,
    headers: { ...headers, ...(key === null ? {} : { 'idempotency-key': key }) },
  });
  const { status } = response;
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status, replayed, type: response.type, body: response.body };
}

const count = async (): Promise<number> =>
  Number((await gateway.database.query('select count(*) from payment'))[0]!['count']);

test('a repeated request gets the response of the first one, and runs once', async () => {
  const before = await count();
  const key = newKey();
  const first = await post('pay', key, { amount: 1.5, note: 'a' });
  const second = await post('pay', key, { note: 'a', amount: 1.5 });
  expect(first).toEqual({
    status: 200,
    replayed: false,
    type: 'application/json',
    body: expect.stringMatching(/^\{"id":\d+,"amount":1.5,"note":"a"\}$/) as string,
  });
  expect(second).toEqual({ ...first, replayed: true });
  expect((await count()) - before).toBe(1);
});

test('a key is a string of structured fields, or the same text without quotes', async () => {
  const key = newKey();
  const first = await post('must-pay', `"${key}"`, { amount: 1 });
  expect(await post('must-pay', key, { amount: 1 })).toEqual({ ...first, replayed: true });
  expect(await post('must-pay', String.raw`"a\"b\\${key}"`, { amount: 1 })).toMatchObject({
    status: 200,
    replayed: false,
  });
});

test.each(['', '""', 'a b', 'a, b', '"a"; b=1', '"a', 'ü', 'x'.repeat(256), '"\\a"'])(
  'the key %j is refused',
  async (key) => {
    const { status, body } = await post('pay', Buffer.from(key).toString('latin1'), { amount: 1 });
    expect({ status, problem: JSON.parse(body) as object }).toEqual({
      status: 400,
      problem: {
        type: 'urn:pgway:problem:invalid-idempotency-key',
        title: 'The Idempotency-Key is not valid',
        status: 400,
        detail:
          'The header Idempotency-Key must be one string of 1 to 255 characters of visible ASCII, such as "8e03978e-40d5-43dd-bc93-6894a57f9324".',
      },
    });
  },
);

test('a no-break space is not trimmed from a key', async () => {
  expect(await post('pay', '\u00a0abc', { amount: 1 })).toMatchObject({ status: 400, replayed: false });
});

test('a required key must be there', async () => {
  const { status, body } = await post('must-pay', null, { amount: 1 });
  expect({ status, problem: JSON.parse(body) as object }).toMatchObject({
    status: 400,
    problem: { type: 'urn:pgway:problem:missing-idempotency-key', title: 'The endpoint needs an Idempotency-Key' },
  });
  expect(await post('pay', null, { amount: 1 })).toMatchObject({ status: 200, replayed: false });
});

test.each([
  ['other values', 'pay', { amount: 2 }],
  ['an additional parameter', 'pay', { amount: 1, note: null }],
  ['another endpoint', 'must-pay', { amount: 1 }],
])('a key with %s gets a 422', async (_, path, body) => {
  const key = newKey();
  expect(await post('pay', key, { amount: 1 })).toMatchObject({ status: 200 });
  const before = await count();
  const refused = await post(path, key, body);
  expect({ ...refused, body: JSON.parse(refused.body) as object }).toEqual({
    status: 422,
    replayed: false,
    type: 'application/problem+json',
    body: {
      type: 'urn:pgway:problem:idempotency-key-reused',
      title: 'Another request had this Idempotency-Key',
      status: 422,
      detail: 'Use a new Idempotency-Key for each operation, and repeat a request unchanged.',
    },
  });
  expect(await count()).toBe(before);
});

test('a request gets a 409 while another one with its key runs', async () => {
  const lock = await holdLock(gateway.database.connectionString, 7);
  const key = newKey();
  const running = post('wait-for-lock', key);
  await expect.poll(() => lock.waiting()).toBe(1);
  const response = await gateway.send('POST /api/wait-for-lock', { body: {}, headers: { 'idempotency-key': key } });
  expect({
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: JSON.parse(response.body) as object,
  }).toEqual({
    status: 409,
    retryAfter: '1',
    body: {
      type: 'urn:pgway:problem:idempotency-key-in-use',
      title: 'A request with this Idempotency-Key is running',
      status: 409,
      detail: 'A request with this Idempotency-Key is running; send it again when that has ended.',
    },
  });
  await lock.release();
  expect(await running).toMatchObject({ status: 204 });
  expect(await post('wait-for-lock', key)).toMatchObject({ status: 204, replayed: true });
});

test('of many requests at once with one key, one runs', async () => {
  const before = await count();
  const key = newKey();
  const results = await Promise.all(Array.from({ length: 30 }, () => post('pay', key, { amount: 3 })));
  expect((await count()) - before).toBe(1);
  expect(results.filter(({ status, replayed }) => status === 200 && !replayed)).toHaveLength(1);
  expect(results.every(({ status }) => status === 200 || status === 409)).toBe(true);
});

test('a call that fails stores nothing, and runs again', async () => {
  const key = newKey();
  const before = await count();
  expect(await post('pay', key, { amount: -1 })).toMatchObject({ status: 400, replayed: false });
  expect(await post('pay', key, { amount: -1 })).toMatchObject({ status: 400, replayed: false });
  expect(await post('pay', key, { amount: 'x' })).toMatchObject({
    status: 400,
    body: expect.stringContaining('"parameters":["amount"]') as string,
  });
  expect(await post('pay', key, { amount: 1 })).toMatchObject({ status: 200, replayed: false });
  expect((await count()) - before).toBe(1);
});

describe('the response is the same for', () => {
  test.each([
    ['rows', 'pay-all', { amounts: [1, 2.5] }],
    ['no rows', 'pay-all', { amounts: [] }],
    ['values of all types', 'mix', {}],
    ['a function without a result', 'note', { note: 'a' }],
    ['a procedure', 'note-by-procedure', { note: 'a' }],
    ['bytes', 'picture', {}],
    ['a text', 'who', { id: 'me' }],
    ['a NULL', 'who', { id: null }],
  ])('%s', async (_, path, body) => {
    const key = newKey();
    const first = await post(path, key, body);
    const before = await count();
    expect(first).toMatchObject({ status: expect.toBeOneOf([200, 204]) as number, replayed: false });
    expect(await post(path, key, body)).toEqual({ ...first, replayed: true });
    expect(await count()).toBe(before);
  });

  test('CSV', async () => {
    const key = newKey();
    const accept = { accept: 'text/csv' };
    const first = await post('pay-all', key, { amounts: [1, 2] }, accept);
    expect(first).toMatchObject({ status: 200, type: 'text/csv; charset=utf-8; header=present' });
    expect(await post('pay-all', key, { amounts: [1, 2] }, accept)).toEqual({ ...first, replayed: true });
  });

  test('status and headers that the routine sets', async () => {
    const key = newKey();
    const send = () =>
      gateway.send('POST /api/create-payment', { body: { amount: 1 }, headers: { 'idempotency-key': key } });
    const [first, second] = [await send(), await send()];
    expect([first.status, first.body]).toEqual([201, 'created']);
    expect(first.headers.get('location')).toMatch(/^\/payments\/\d+$/);
    expect([second.status, second.headers.get('location'), second.body]).toEqual([
      201,
      first.headers.get('location'),
      'created',
    ]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });
});

test('a response that is too large is sent once', async () => {
  const key = newKey();
  const before = await count();
  expect(await post('large', key, { size: 2_000 })).toMatchObject({ status: 200, body: 'x'.repeat(2_000) });
  const second = await post('large', key, { size: 2_000 });
  expect({ ...second, body: JSON.parse(second.body) as object }).toMatchObject({
    status: 409,
    body: { type: 'urn:pgway:problem:stored-response-unavailable' },
  });
  expect((await count()) - before).toBe(1);
});

test('a stored response is read again after a lost connection, and the request may be sent again after a second loss', async () => {
  const { database } = gateway;
  const key = newKey();
  const first = await post('pay', key, { amount: 8 });
  const before = await count();
  await database.query(`
    alter function pgway.read_idempotent_rows(bytea, bytea) rename to read_now;
    create function pgway.read_idempotent_rows(key_id bytea, key_shape bytea) returns json language sql volatile as
    $$ select pg_advisory_xact_lock(9); select pgway.read_now(key_id, key_shape) $$`);
  const lock = await holdLock(database.connectionString, 9);
  const terminate = async (): Promise<unknown> => {
    await expect.poll(() => lock.waiting()).toBe(1);
    const rows = await database.query(
      `select pid from pg_locks where locktype = 'advisory' and objid = 9 and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    await database.query(`select pg_terminate_backend(${String(rows[0]!['pid'])})`);
    return rows[0]!['pid'];
  };
  const repeat = (): ReturnType<typeof gateway.send> =>
    gateway.send('POST /api/pay', { body: { amount: 8 }, headers: { 'idempotency-key': key } });
  const twice = repeat();
  const pid = await terminate();
  await expect.poll(terminate).not.toBe(pid);
  const { status, headers, body } = await twice;
  expect({ status, retryAfter: headers.get('retry-after'), body: JSON.parse(body) as unknown }).toEqual({
    status: 503,
    retryAfter: '1',
    body: {
      type: 'urn:pgway:problem:database-unavailable',
      title: 'The database cannot be reached',
      status: 503,
      correlationId: expect.any(String) as string,
    },
  });
  const once = repeat();
  await terminate();
  await expect.poll(() => lock.waiting()).toBe(1);
  await lock.release();
  expect((await once).body).toBe(first.body);
  expect(await count()).toBe(before);
  await database.query(`drop function pgway.read_idempotent_rows;
    alter function pgway.read_now rename to read_idempotent_rows`);
});
