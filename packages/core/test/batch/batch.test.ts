import { installIdempotency } from '@pgway/core';
import { holdLock, startGateway, useGateway } from '@pgway/testing';
import { beforeEach, describe, expect, test } from 'vitest';

/** Batches: several requests in one transaction. */

const sql = `
  create table customer (id int generated always as identity primary key, name text unique not null);
  create table orders (
    id int generated always as identity primary key,
    customer_id int not null references customer deferrable initially deferred,
    total numeric(30, 10),
    tags int[]
  );
  create function add_customer(_name text) returns customer language sql
  as $$ insert into customer (name) values (_name) returning * $$;
  comment on function add_customer is 'HTTP POST';
  create function add_order(_customer_id int, _total numeric default 0, _tags int[] default null) returns int language sql
  as $$ insert into orders (customer_id, total, tags) values (_customer_id, _total, _tags) returning id $$;
  comment on function add_order is 'HTTP PUT';
  create function get_customer(_id int) returns setof customer language sql stable
  as $$ select * from customer where id = _id $$;
  comment on function get_customer is 'HTTP GET /api/customers/{_id}';
  create function get_count() returns bigint language sql stable as $$ select count(*) from customer $$;
  comment on function get_count is 'HTTP GET';
  create function big_number() returns json language sql stable as $$ select '{"n": 12345678901234567890.10, "a/b": [null, "é\\n"]}'::json $$;
  comment on function big_number is 'HTTP GET';
  create function echo(_value json) returns json language sql stable as $$ select _value $$;
  comment on function echo is 'HTTP POST';
  create function nothing() returns void language sql as $$ select 1 $$;
  comment on function nothing is 'HTTP POST';
  create function rows_of(_count int) returns setof int language sql stable as $$ select generate_series(1, _count) $$;
  comment on function rows_of is 'HTTP GET';
  create function transaction_of() returns text language sql
  as $$ select txid_current()::text || ' ' || current_setting('transaction_isolation') $$;
  comment on function transaction_of is 'HTTP POST';
  create function secret() returns text language sql stable as $$ select 'x' $$;
  comment on function secret is E'HTTP GET\\nauthorize';
  create function fail_with(_code text) returns void language plpgsql
  as $$ begin raise exception 'failed' using errcode = _code; end $$;
  comment on function fail_with is 'HTTP POST';
  create function get_bytes() returns bytea language sql stable as $$ select 'x'::bytea $$;
  comment on function get_bytes is 'HTTP GET';
  create function get_raw() returns setof int language sql stable as $$ select 1 $$;
  comment on function get_raw is E'HTTP GET\\nraw';
  create function own_timeout() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
  comment on function own_timeout is E'HTTP GET\\ncommand_timeout 7';
  create function usual_timeout() returns text language sql stable as $$ select current_setting('statement_timeout') $$;
  comment on function usual_timeout is 'HTTP GET';
`;

const gateway = useGateway(sql, {
  batchPath: '/api/batch',
  maxBatchItems: 20,
  maxBatchResponseSize: 100_000,
  postgreSqlErrorCodeToHttpStatusCodeMapping: { UX204: 204 },
});

interface Result {
  readonly status: number;
  readonly body: unknown;
}

async function batch(requests: unknown, query = ''): Promise<Result> {
  const { status, body } = await gateway.send(`POST /api/batch${query}`, { body: requests });
  return { status, body: JSON.parse(body) as unknown };
}

async function names(): Promise<readonly unknown[]> {
  const rows = await gateway.database.query('select name from customer order by id');
  return rows.map((row) => Object.values(row as object)[0] as unknown);
}

beforeEach(async () => {
  await gateway.database.query('truncate customer, orders restart identity');
});

const addAda = { method: 'POST', path: '/api/add-customer', body: { name: 'Ada' } };
const addBob = { method: 'POST', path: '/api/add-customer', body: { name: 'Bob' } };

test('the requests run in order, and the response lists status and body of each', async () => {
  const { status, type, body } = await gateway.send('POST /api/batch', {
    body: [
      addAda,
      { method: 'GET', path: '/api/get-count' },
      addBob,
      { method: 'GET', path: '/api/customers/2' },
      { method: 'POST', path: '/api/nothing' },
      { method: 'GET', path: '/api/big-number' },
      { method: 'GET', path: '/api/rows-of?count=2' },
    ],
  });
  expect([status, type]).toEqual([200, 'application/json']);
  expect(body).toBe(
    [
      '[{"status":200,"body":{"id":1,"name":"Ada"}}',
      '{"status":200,"body":"1"}',
      '{"status":200,"body":{"id":2,"name":"Bob"}}',
      '{"status":200,"body":[{"id":2,"name":"Bob"}]}',
      '{"status":204,"body":null}',
      '{"status":200,"body":{"n": 12345678901234567890.10, "a/b": [null, "é\\n"]}}',
      '{"status":200,"body":[1,2]}]',
    ].join(','),
  );
});

describe('all or nothing', () => {
  test('an error names the request by its pointer, and nothing of the batch remains', async () => {
    const { status, body } = await batch([addAda, addBob, addAda]);
    expect(status).toBe(409);
    expect(body).toEqual({
      type: 'urn:pgway:problem:database-error',
      title: 'duplicate key value violates unique constraint "customer_name_key"',
      status: 409,
      detail: 'Key (name)=(Ada) already exists.',
      code: '23505',
      constraint: 'customer_name_key',
      table: 'customer',
      pointer: '/2',
    });
    expect(await names()).toEqual([]);
  });

  test.each([
    ['57014', 205, 503],
    ['UX204', 204, 400],
  ])('an error %s, which has the status %i alone, does not look like a success', async (code, alone, status) => {
    expect(await gateway.send('POST /api/fail-with', { body: { code } })).toMatchObject({ status: alone, body: '' });
    const failing = { method: 'POST', path: '/api/fail-with', body: { code } };
    expect(await batch([{ method: 'POST', path: '/api/add-customer', body: { name: 'Ada' } }, failing])).toEqual({
      status,
      body: expect.objectContaining({ status, title: 'failed', code, pointer: '/1' }) as unknown,
    });
    expect(await names()).toEqual([]);
  });

  test('an error of the commit belongs to no request', async () => {
    const { status, body } = await batch([addAda, { method: 'PUT', path: '/api/add-order', body: { customerId: 99 } }]);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: '23503', constraint: 'orders_customer_id_fkey' });
    expect(body).not.toHaveProperty('pointer');
    expect(await names()).toEqual([]);
  });

  test.each([
    ['unknown path', { method: 'GET', path: '/api/unknown' }, 404, 'unknown-endpoint'],
    ['other method', { method: 'GET', path: '/api/add-customer' }, 405, 'method-not-allowed'],
    ['no permission', { method: 'GET', path: '/api/secret' }, 401, 'unauthenticated'],
    ['missing parameter', { method: 'POST', path: '/api/add-customer' }, 400, 'missing-parameter'],
    [
      'unknown parameter',
      { method: 'POST', path: '/api/add-customer', body: { name: 'x', x: 1 } },
      400,
      'unknown-parameter',
    ],
    ['invalid value', { method: 'GET', path: '/api/customers/x' }, 400, 'invalid-parameter'],
    ['another body', { method: 'POST', path: '/api/add-customer', body: [1] }, 400, 'body-not-an-object'],
    ['bytes', { method: 'GET', path: '/api/get-bytes' }, 400, 'not-in-batch'],
    ['raw', { method: 'GET', path: '/api/get-raw' }, 400, 'not-in-batch'],
    ['the batch itself', { method: 'POST', path: '/api/batch', body: [] }, 404, 'unknown-endpoint'],
    [
      'a header of identity',
      { method: 'GET', path: '/api/get-count', headers: { Authorization: 'x' } },
      400,
      'not-in-batch',
    ],
    ['no object', 1, 400, 'invalid-batch'],
    ['an unknown member', { method: 'GET', path: '/api/get-count', query: {} }, 400, 'invalid-batch'],
    ['no method', { path: '/api/get-count' }, 400, 'invalid-batch'],
    ['a relative path', { method: 'GET', path: 'api/get-count' }, 400, 'invalid-batch'],
    ['a path with a line break', { method: 'GET', path: '/api/get-count\r\nx: y' }, 400, 'invalid-batch'],
    [
      'a reference to itself',
      { method: 'POST', path: '/api/echo', body: { value: { $ref: '1' } } },
      400,
      'invalid-batch',
    ],
    ['no reference', { method: 'POST', path: '/api/echo', body: { value: { $ref: '#/x' } } }, 400, 'invalid-batch'],
    [
      'a reference to nothing',
      { method: 'POST', path: '/api/echo', body: { value: { $ref: '0/x' } } },
      400,
      'invalid-batch',
    ],
    ['a path of an object', { method: 'GET', path: ['/api/customers/', { $ref: '0' }] }, 400, 'invalid-batch'],
    ['a path that begins with a reference', { method: 'GET', path: [{ $ref: '0' }] }, 400, 'invalid-batch'],
  ])('%s', async (_what, request, status, code) => {
    const refused = await batch([addAda, request]);
    expect(refused).toMatchObject({ status, body: { type: `urn:pgway:problem:${code}`, status, pointer: '/1' } });
    expect(await names()).toEqual([]);
  });

  test.each([
    ['no array', {}],
    ['nothing', []],
    ['too many', Array.from({ length: 21 }, () => addAda)],
  ])('%s: 400 without a pointer', async (_what, requests) => {
    const { status, body } = await batch(requests);
    expect([status, (body as { pointer?: string }).pointer]).toEqual([400, undefined]);
  });

  test('responses that are too large roll back', async () => {
    const refused = await batch([addAda, { method: 'GET', path: '/api/rows-of?count=90000' }]);
    expect(refused).toMatchObject({ status: 400, body: { type: 'urn:pgway:problem:batch-too-large', pointer: '/1' } });
    expect(await names()).toEqual([]);
  });

  test('a connection that is terminated in the middle leaves nothing', async () => {
    const lock = await holdLock(gateway.database.connectionString, 7);
    const waits = { method: 'POST', path: '/api/wait', body: {} };
    const other = await startGateway(
      `create table t (i int);
       create function add() returns int language sql as $$ insert into t values (1) returning i $$;
       comment on function add is 'HTTP POST';
       create function wait() returns void language sql as $$ select pg_advisory_xact_lock(7) $$;
       comment on function wait is 'HTTP POST';`,
      { batchPath: '/batch' },
    );
    await lock.release();
    const held = await holdLock(other.database.connectionString, 7);
    const response = other.send('POST /batch', { body: [{ method: 'POST', path: '/api/add' }, waits] });
    await expect.poll(() => held.waiting()).toBe(1);
    await other.database.query(
      "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
    );
    const { status, body } = await response;
    expect([status, JSON.parse(body)]).toMatchObject([503, { type: 'urn:pgway:problem:outcome-unknown' }]);
    expect(await other.database.query('select * from t')).toEqual([]);
    await held.release();
    await other.close();
  });
});

describe('references', () => {
  test('a later request uses values of earlier responses, with all digits, in body and path', async () => {
    const { status, body } = await gateway.send('POST /api/batch', {
      body: [
        { method: 'GET', path: '/api/big-number' },
        addAda,
        {
          method: 'PUT',
          path: '/api/add-order',
          body: { customerId: { $ref: '1/id' }, total: { $ref: '0/n' }, tags: [{ $ref: '1/id' }, 5] },
        },
        { method: 'GET', path: ['/api/customers/', { $ref: '1/id' }] },
        {
          method: 'POST',
          path: '/api/echo',
          body: { value: [{ $ref: '3/0/name' }, { $ref: '0/a~1b/1' }, { $ref: '2' }] },
        },
      ],
    });
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      [{}, {}, { body: '1' }, { body: [{ id: 1, name: 'Ada' }] }, { body: ['Ada', 'é\n', '1'] }],
    ]);
    const [order] = await gateway.database.query('select customer_id, total::text, tags from orders');
    expect(order).toEqual({ customer_id: 1, total: '12345678901234567890.1000000000', tags: [1, 5] });
  });

  test('references stand at most 8 levels deep', async () => {
    const nested = (depth: number): unknown => (depth === 0 ? { $ref: '0/id' } : [nested(depth - 1)]);
    const echo = (depth: number): object => ({ method: 'POST', path: '/api/echo', body: { value: nested(depth) } });
    expect((await batch([addAda, echo(7)])).status).toBe(200);
    expect(await batch([addBob, echo(8)])).toMatchObject({ status: 400, body: { pointer: '/1' } });
  });

  test('a path and a body have at most 1,000 references, of at most 1,000 characters', async () => {
    const refs = (count: number): object[] => Array.from({ length: count }, () => ({ $ref: '0/id' }));
    const echo = (value: unknown): object => ({ method: 'POST', path: '/api/echo', body: { value } });
    const whole = await batch([addAda, echo(refs(1_000)), echo(['"$ref"', ...refs(999)])]);
    expect([whole.status, (whole.body as readonly { readonly status: number }[]).map(({ status }) => status)]).toEqual([
      200,
      [200, 200, 200],
    ]);
    const problem = (detail: string): unknown => ({
      type: 'urn:pgway:problem:batch-too-large',
      title: 'The batch is larger than this server accepts',
      status: 400,
      detail,
      pointer: '/1',
    });
    expect(await batch([addBob, echo(refs(1_001))])).toEqual({
      status: 400,
      body: problem('The body has more than 1000 references; use fewer, or a request for all of the values.'),
    });
    const path = ['/api/echo?value=', ...Array.from({ length: 1_001 }, () => [{ $ref: '0/id' }, ',']).flat()];
    expect(await batch([addBob, { method: 'POST', path }])).toEqual({
      status: 400,
      body: problem('The path has more than 1000 references; use fewer, or a request for all of the values.'),
    });
    const long = await batch([addBob, echo({ $ref: `0/${'x'.repeat(1_000)}` })]);
    expect(long).toMatchObject({ status: 400, body: { type: 'urn:pgway:problem:invalid-batch', pointer: '/1' } });
  });

  test('"references": false keeps data that looks like a reference', async () => {
    const value = { $ref: '0/id' };
    const { body } = await batch([addAda, { method: 'POST', path: '/api/echo', body: { value }, references: false }]);
    expect(body).toEqual([
      { status: 200, body: { id: 1, name: 'Ada' } },
      { status: 200, body: value },
    ]);
  });

  test('values of references count to the size of the bodies', async () => {
    const value = 'x'.repeat(40_000);
    const large = { method: 'POST', path: '/api/echo', body: { value: [value] } };
    const many = {
      method: 'POST',
      path: '/api/echo',
      body: { value: Array.from({ length: 30 }, () => ({ $ref: '0' })) },
    };
    const refused = await batch([large, many]);
    expect(refused).toMatchObject({ status: 400, body: { type: 'urn:pgway:problem:batch-too-large', pointer: '/1' } });
    const inPath = { method: 'POST', path: ['/api/echo?value=', ...many.body.value] };
    const text = { method: 'POST', path: '/api/echo', body: { value: JSON.stringify(value) } };
    const refusedPath = await batch([text, inPath]);
    expect(refusedPath).toMatchObject({
      status: 400,
      body: { type: 'urn:pgway:problem:batch-too-large', pointer: '/1' },
    });
  });

  test('references that search large responses again and again are refused; equal ones search once', async () => {
    const list = { method: 'POST', path: '/api/echo', body: { value: Array.from({ length: 40_000 }, () => 1) } };
    const indexes = (of: (index: number) => number): object => ({
      method: 'POST',
      path: '/api/echo',
      body: { value: Array.from({ length: 1_000 }, (_, index) => ({ $ref: `0/${of(index)}` })) },
    });
    const { status, body } = await batch([list, indexes(() => 39_999)]);
    expect([status, body]).toMatchObject([200, [{}, { status: 200, body: Array.from({ length: 1_000 }, () => 1) }]]);
    expect(await batch([list, indexes((index) => 39_000 + index)])).toEqual({
      status: 400,
      body: {
        type: 'urn:pgway:problem:batch-too-large',
        title: 'The batch is larger than this server accepts',
        status: 400,
        detail: 'The batch has too many references to large responses.',
        pointer: '/1',
      },
    });
  });

  test.each(['0/__proto__', '0/constructor', '0/length', '0/01', '0/-1', '0/999999999', '0/name/0'])(
    '%s is no value of the response',
    async (text) => {
      const echo = { method: 'POST', path: '/api/echo', body: { value: { $ref: text } } };
      expect(await batch([addAda, echo])).toEqual({
        status: 400,
        body: {
          type: 'urn:pgway:problem:invalid-batch',
          title: 'The batch is not valid',
          status: 400,
          detail: `The response to the earlier request has no value at "${text}".`,
          pointer: '/1',
        },
      });
    },
  );
});

describe('the transaction', () => {
  const own = { method: 'POST', path: '/api/transaction-of' };

  test.each([
    ['', 'read committed'],
    ['?isolation=repeatable-read', 'repeatable read'],
    ['?isolation=serializable', 'serializable'],
  ])('all requests have one, with the isolation level of the query: %s', async (query, level) => {
    for (const requests of [
      [own, own],
      [own, { method: 'POST', path: '/api/echo', body: { value: [{ $ref: '0' }] } }, own],
    ]) {
      const { body } = await batch(requests, query);
      const texts = (body as readonly { body: string }[]).flatMap((each) => each.body);
      expect(texts[0]).toMatch(new RegExp(`^\\d+ ${level}$`));
      expect(new Set(texts).size).toBe(1);
    }
  });

  test.each(['?isolation=chaos', '?isolation=serializable&isolation=serializable', '?x=1'])(
    '%s: 400',
    async (query) => {
      expect(await batch([own], query)).toMatchObject({
        status: 400,
        body: { type: 'urn:pgway:problem:invalid-batch' },
      });
    },
  );

  test('the timeout of an endpoint holds for its own statement', async () => {
    const [usual, ownTimeout] = ['/api/usual-timeout', '/api/own-timeout'].map((path) => ({ method: 'GET', path }));
    const { body } = await batch([usual, ownTimeout, usual]);
    expect((body as readonly { body: string }[]).map((each) => each.body)).toEqual(['30s', '7s', '30s']);
  });
});

describe('a request that takes longer than its command_timeout', () => {
  const timed = useGateway(
    `${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
     create table t (i int);
     create function add() returns int language sql as $$ insert into t values (1) returning i $$;
     comment on function add is 'HTTP POST';
     create function usual() returns int language sql as $$ select 1 from pg_sleep(20) $$;
     comment on function usual is 'HTTP POST';
     create function patient() returns int language sql as $$ insert into t values (1) returning i $$;
     comment on function patient is E'HTTP POST\\ncommand_timeout 30';
     create function slow(_i int default 0) returns int language sql as $$ select _i from pg_sleep(20) $$;
     comment on function slow is E'HTTP POST\\ncommand_timeout 0.2';
     create function slow_rows() returns setof int language sql as $$ select 1 from pg_sleep(20) $$;
     comment on function slow_rows is E'HTTP POST\\ncommand_timeout 0.2';
     create function slow_read() returns setof int language sql stable as $$ select 1 from pg_sleep(20) $$;
     comment on function slow_read is E'HTTP GET\\ncommand_timeout 0.2';`,
    { batchPath: '/batch', idempotency: {}, commandTimeout: 0.4 },
  );
  const post = (name: string, body: object = {}): object => ({ method: 'POST', path: `/api/${name}`, body });
  const slowRead = { method: 'GET', path: '/api/slow-read' };

  test.each([
    ['alone', [post('slow')], {}],
    ['in one round trip', [post('add'), post('slow')], {}],
    ['that reads', [slowRead], {}],
    ['as all calls have it', [post('patient'), post('usual')], {}],
    ['before the commit', [post('add'), post('slow-rows'), post('add')], {}],
    ['after a reference', [post('add'), post('slow', { i: { $ref: '0' } })], {}],
    ['before a reference', [post('add'), post('slow'), post('slow', { i: { $ref: '1' } })], {}],
    ['of a batch with a key', [post('add'), post('slow')], { 'idempotency-key': 'timed' }],
  ])('%s: 504 without Retry-After', async (_, requests, headers) => {
    const response = await timed.send('POST /batch', { body: requests, headers });
    expect([response.status, response.headers.get('retry-after'), JSON.parse(response.body)]).toMatchObject([
      504,
      null,
      { type: 'urn:pgway:problem:timeout' },
    ]);
    expect(await timed.database.query('select * from t')).toEqual([]);
  });
});

test('a page of another site cannot send changes in a batch', async () => {
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' };
  const body = JSON.stringify([{ method: 'GET', path: '/api/get-count' }, addAda]);
  const { status, body: refused } = await gateway.send('POST /api/batch', { headers, body });
  expect([status, JSON.parse(refused)]).toMatchObject([
    403,
    { type: 'urn:pgway:problem:cross-site-request', pointer: '/1' },
  ]);
  expect(await names()).toEqual([]);
});

test('without batchPath there is no such route', async () => {
  const other = await startGateway(sql);
  expect((await other.send('POST /api/batch', { body: [addAda] })).status).toBe(404);
  await other.close();
});

test('other methods of the path get 405', async () => {
  const { status, headers } = await gateway.send('GET /api/batch');
  expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
});
