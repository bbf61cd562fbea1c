import { connect } from 'node:net';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { plain, problem, problemOf, sendRaw, text } from './support.ts';

const sql = `
  create function length_of(_a text) returns int language sql volatile as $$ select length(_a) $$;
  comment on function length_of(text) is 'HTTP';
  create function echo(_a text) returns text language sql immutable as $$ select _a $$;
  comment on function echo(text) is 'HTTP';
  create function slow(_seconds float8) returns text language sql volatile as $$ select 'slept' || pg_sleep(_seconds)::text $$;
  comment on function slow(float8) is 'HTTP GET';
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
      headers: { 'content-type': 'text/plain' },
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

describe('connections', () => {
  test('no free connection within acquireTimeout is 503 with Retry-After', async () => {
    const gateway = await startGateway(sql, { poolSize: 1, acquireTimeout: 0.2, shareConnections: false });
    try {
      const busy = gateway.send('GET /api/slow?seconds=2');
      await new Promise((resolve) => setTimeout(resolve, 100));
      const refused = await gateway.send('GET /api/echo?a=x');
      expect(problem(refused)).toMatchObject(problemOf(503));
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(plain(await busy)).toEqual(text('slept'));
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
      const active = await gateway.database.query(
        `select from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`,
      );
      expect(active).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
});
