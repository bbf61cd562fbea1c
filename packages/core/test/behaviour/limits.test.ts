import { connect } from 'node:net';
import { holdLock, startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { plain, problem, problemOf, sendRaw, text } from './support.ts';

const sql = `
  create function length_of(_a text) returns int language sql volatile as $$ select length(_a) $$;
  comment on function length_of(text) is 'HTTP';
  create function echo(_a text) returns text language sql immutable as $$ select _a $$;
  comment on function echo(text) is 'HTTP';
  create function slow(_seconds float8) returns text language sql volatile as $$ select 'slept' || pg_sleep(_seconds)::text $$;
  comment on function slow(float8) is 'HTTP GET';
  create function wait() returns text language sql volatile as $$ select 'waited' || pg_advisory_xact_lock(1)::text $$;
  comment on function wait() is 'HTTP GET';
`;

describe('sizes', () => {
  const gateway = useGateway(sql, { maxBodySize: 1000, maxUriLength: 200 });

  test('a body of exactly the limit', async () => {
    const body = `{"a":"${'x'.repeat(1000 - 8)}"}`;
    expect(
      plain(await gateway.send('POST /api/length-of', { body, headers: { 'content-type': 'application/json' } })),
    ).toEqual(text('992'));
  });

  test.each([1001, 100_000, 5_000_000])('a body of %i bytes is 413', async (size) => {
    const body = `{"a":"${'x'.repeat(size - 8)}"}`;
    const answer = await gateway.send('POST /api/length-of', { body, headers: { 'content-type': 'application/json' } });
    expect(problem(answer)).toMatchObject(problemOf(413));
  });

  test('a chunked body past the limit is 413', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      let received = '';
      socket.on('data', (data) => (received += data.toString('latin1')));
      socket.on('error', reject);
      socket.on('close', () => resolve(received));
      socket.write(
        'POST /api/length-of HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      for (let index = 0; index < 3; index++) socket.write(`190\r\n${'x'.repeat(400)}\r\n`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  test('the size of a body counts in bytes', async () => {
    const body = `{"a":"${'é'.repeat(600)}"}`;
    const answer = await gateway.send('POST /api/length-of', { body, headers: { 'content-type': 'application/json' } });
    expect(problem(answer)).toMatchObject(problemOf(413));
  });

  test('path and query of more than the limit are 414', async () => {
    expect(problem(await gateway.send(`GET /api/echo?a=${'x'.repeat(200)}`))).toMatchObject(problemOf(414));
    expect(plain(await gateway.send(`GET /api/echo?a=${'x'.repeat(150)}`))).toEqual(text('x'.repeat(150)));
  });

  test('a host that cannot tell anything else: the wrong content type comes before the size', async () => {
    const { status } = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/length-of',
      headers: { 'content-type': 'text/html' },
      body: 'x'.repeat(5000),
    });
    expect(status).toBe(415);
  });
});

describe('by default', () => {
  const gateway = useGateway(sql);

  // The limit of `node:http` for all headers together is 16 KiB: past it a host answers 431 before the gateway is asked.
  test('a URI that is too long is 414 and not a refusal of the host', async () => {
    expect((await gateway.send(`GET /api/echo?a=${'x'.repeat(15_900)}`)).status).toBe(414);
  });

  test('more than a thousand keys are 400', async () => {
    expect(problem(await gateway.send(`GET /api/echo?${'a&'.repeat(1_500)}`))).toMatchObject(problemOf(400));
  });
});

describe('JSON bodies', () => {
  const gateway = useGateway(
    `${sql}
    create function keys_of(_document json) returns int language sql immutable as $$ select count(*)::int from json_object_keys(_document) $$;
    comment on function keys_of is 'HTTP POST';
    create function needy(${Array.from({ length: 25 }, (_, index) => `_p${index} int`).join(', ')}) returns int language sql immutable as $$ select 1 $$;
    comment on function needy is 'HTTP POST';
    create function twice(_a int) returns int language sql immutable as $$ select 1 $$;
    comment on function twice(int) is 'HTTP POST';
    create function twice(_b text) returns int language sql immutable as $$ select 1 $$;
    comment on function twice(text) is 'HTTP POST';
    `,
    { maxBodySize: 20_000_000 },
  );
  const send = (path: string, body: string) =>
    gateway.send(`POST ${path}`, { body, headers: { 'content-type': 'application/json' } });
  const withKeys = (count: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1])));

  test('a string of many megabytes', async () => {
    expect(plain(await send('/api/length-of', `{"a":"${'x'.repeat(12_000_000)}"}`))).toEqual(text('12000000'));
  });

  test('more than a thousand keys are 400; a document inside of the body may have them', async () => {
    expect(problem(await send('/api/length-of', withKeys(1_001)))).toEqual(
      problemOf(400, {
        type: 'urn:pgway:problem:malformed-body',
        detail: 'The object in the body has more than 1000 keys.',
      }),
    );
    expect(plain(await send('/api/keys-of', `{"document":${withKeys(5_000)}}`))).toEqual(text('5000'));
  });

  test('of many unknown keys the first 20 are named', async () => {
    const answer = await send('/api/length-of', withKeys(1_000));
    const names = Array.from({ length: 20 }, (_, index) => `k${index}`);
    const explained = names.map((name) => `"${name}" in the JSON body is not a parameter of this endpoint.`);
    expect(problem(answer)).toEqual(
      problemOf(400, {
        detail: `${explained.join(' ')} And 980 more. Missing in the JSON body: "a" (text).`,
        unknown: names,
        missing: ['a'],
      }),
    );
  });

  test('of many missing keys the first 20 are named', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const listed = names.map((name) => `"${name}" (integer)`).join(', ');
    expect(problem(await send('/api/needy', '{}'))).toEqual(
      problemOf(400, { detail: `Missing in the JSON body: ${listed} and 5 more.`, missing: names }),
    );
  });

  test('of many keys that no signature takes the first 20 are named', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `"k${index}"`).join(', ');
    const { detail } = problem(await send('/api/twice', withKeys(1_000))).problem;
    expect(detail).toMatch(new RegExp(`^None takes exactly ${names} and 980 more\\. On offer: `));
  });

  test('a long key is named by its first 100 characters', async () => {
    const shown = `${'k'.repeat(100)}…`;
    expect(problem(await send('/api/length-of', `{"a":"x","${'k'.repeat(1_000_000)}":1}`))).toEqual(
      problemOf(400, {
        detail: `"${shown}" in the JSON body is not a parameter of this endpoint.`,
        unknown: [shown],
      }),
    );
  });
});

describe('connections', () => {
  test('no free connection within acquireTimeout is 503 with Retry-After', async () => {
    const gateway = await startGateway(sql, { poolSize: 1, acquireTimeout: 1, shareConnections: false });
    try {
      const lock = await holdLock(gateway.database.connectionString, 1);
      const busy = gateway.send('GET /api/wait');
      await expect.poll(() => lock.waiting()).toBe(1);
      const refused = await gateway.send('GET /api/echo?a=x');
      expect(problem(refused)).toMatchObject(problemOf(503));
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      await lock.release();
      expect(plain(await busy)).toEqual(text('waited'));
      expect(plain(await gateway.send('GET /api/echo?a=x'))).toEqual(text('x'));
    } finally {
      await gateway.close();
    }
  });

  test('connections that the server ends: 503 for those in flight, then service as before', async () => {
    const gateway = await startGateway(sql, { poolSize: 2 });
    try {
      const lost = gateway.send('GET /api/slow?seconds=20');
      const running = `datname = current_database() and query like '%slow%' and state = 'active' and pid <> pg_backend_pid()`;
      while ((await gateway.database.query(`select from pg_stat_activity where ${running}`)).length === 0);
      await gateway.database.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${running}`);
      const answer = await lost;
      expect(problem(answer)).toMatchObject(problemOf(503));
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(plain(await gateway.send('GET /api/echo?a=x'))).toEqual(text('x'));
    } finally {
      await gateway.close();
    }
  });

  test('commandTimeout is 504, and the statement ends', async () => {
    const gateway = await startGateway(sql, { commandTimeout: 1 });
    try {
      expect(problem(await gateway.send('GET /api/slow?seconds=20'))).toMatchObject(problemOf(504));
      // Without autovacuum, which may be at work here.
      const active = `select from pg_stat_activity where datname = current_database() and state = 'active'
        and pid <> pg_backend_pid() and backend_type = 'client backend'`;
      await expect.poll(() => gateway.database.query(active)).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
});
