import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { functionsSource, type EndpointSource } from '@pgway/core';
import { startGateway, type TestGateway, useGateway } from '@pgway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Answers of which nothing is read: what they hold of the gateway comes free. */

const sql = `
  create function text_value(_size int) returns text language sql stable as $$ select repeat('x', _size) $$;
  comment on function text_value is 'HTTP GET';
  create function json_document(_size int) returns json language sql stable as $$ select to_json(repeat('x', _size)) $$;
  comment on function json_document is 'HTTP GET';
  create function bytes_value(_size int) returns bytea language sql stable as $$ select decode(repeat('00', _size), 'hex') $$;
  comment on function bytes_value is 'HTTP GET';
  create function one_row(_size int, out content text, out n int) language sql stable as $$ select repeat('x', _size), 1 $$;
  comment on function one_row is 'HTTP GET';
  create function rows(_size int) returns table (content text) language sql stable as $$
    select repeat('x', 1000) from generate_series(1, _size / 1000) $$;
  comment on function rows is 'HTTP GET';
  create function long_row(_size int) returns table (content text) language sql stable as $$ select repeat('x', _size) $$;
  comment on function long_row is 'HTTP GET';
  create function in_one_piece(_size int) returns table (content text) language sql stable as $$
    select repeat('x', 1000) from generate_series(1, _size / 1000) $$;
  comment on function in_one_piece is E'HTTP GET\\nbuffer_rows 1';
  create function kept(_size int) returns text language sql stable as $$ select repeat('x', _size) $$;
  comment on function kept is E'HTTP GET\\ncached';
  create function hooked() returns text language sql stable as $$ select 'not asked' $$;
  comment on function hooked is 'HTTP GET';
`;

const size = 20_000_000;
const paths = [
  '/api/text-value',
  '/api/json-document',
  '/api/bytes-value',
  '/api/one-row',
  '/api/rows',
  '/api/long-row',
  '/api/in-one-piece',
  '/api/kept',
] as const;

/** A server whose connections are counted. */
async function listen(gateway: TestGateway): Promise<Server> {
  const server = createServer(gateway.gateway.middleware);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

/** Asks, and reads nothing of the answer. */
function ask(server: Server, path: string): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket.pause();
}

describe('a reader that takes nothing is cut off', () => {
  let gateway: TestGateway;
  let server: Server;
  beforeAll(async () => {
    gateway = await startGateway(sql, {
      poolSize: 1,
      slowClientTimeout: 0.5,
      commandTimeout: 600,
      maxCacheableSize: 2 * size,
      commandCallback: ({ endpoint }) =>
        endpoint.name === 'hooked' ? { status: 200, body: 'x'.repeat(size) } : undefined,
    });
    server = await listen(gateway);
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });

  test.each([...paths.map((path) => `${path}?size=${size}`), '/api/hooked'])('GET %s', async (path) => {
    let accepted = 0;
    const count = (): void => void accepted++;
    server.on('connection', count);
    const sockets = [ask(server, path), ask(server, path)];
    await expect.poll(() => accepted).toBe(2);
    server.off('connection', count);
    await expect.poll(() => connections(server)).toBe(0);
    for (const socket of sockets) socket.destroy();
    expect((await gateway.send('GET /api/text-value?size=1')).body).toBe('x');
  });
});

describe('a reader that takes all of it', () => {
  const gateway = useGateway(sql, { maxCacheableSize: 2 * size });

  test.each([
    ['text-value', 1_000_000],
    ['json-document', 1_000_002],
    ['bytes-value', 1_000_000],
    ['one-row', 1_000_020],
    ['in-one-piece', 1_015_001],
    ['kept', 1_000_000],
  ])('GET %s: one piece has its length, with and without its body', async (name, length) => {
    const { status, headers, body } = await gateway.send(`GET /api/${name}?size=1000000`);
    expect([status, headers.get('content-length'), body.length]).toEqual([200, String(length), length]);
    expect(body.match(/[x\0]/g)).toHaveLength(1_000_000);
    const head = await gateway.send(`HEAD /api/${name}?size=1000000`);
    expect([head.status, head.headers.get('content-length'), head.body]).toEqual([200, String(length), '']);
  });

  test.each([
    ['rows', 1_015_001],
    ['long-row', 1_000_016],
  ])('GET %s: a stream has every byte too', async (name, length) => {
    const { status, body } = await gateway.send(`GET /api/${name}?size=1000000`);
    expect([status, body.length]).toEqual([200, length]);
    expect(JSON.parse(body)).toHaveLength(name === 'rows' ? 1_000 : 1);
  });
});

test('a response that cannot be made after its stream began ends its call', async () => {
  /** The value of a header that no client can be sent. */
  const badHead: EndpointSource = {
    ...functionsSource(),
    buildQuery: ({ endpoint }) => ({
      sql: `select repeat('x', 1000) from generate_series(1, 1000000)`,
      values: [],
      ...(endpoint.name === 'rows'
        ? { headerQuery: { sql: `select e'a\\nb'::text`, names: ['x-note'], values: [], valueSources: [] } }
        : { sql: `select 'fine'` }),
    }),
  };
  const gateway = await startGateway(sql, { routineSources: [badHead], poolSize: 3, acquireTimeout: 5 });
  for (let request = 0; request < 3; request++) {
    const { status, body } = await gateway.send('GET /api/rows?size=1');
    expect([status, JSON.parse(body)]).toMatchObject([500, { type: 'urn:pgway:problem:invalid-response-header' }]);
  }
  const answers = await Promise.all([1, 2, 3].map(() => gateway.send('GET /api/text-value?size=1')));
  expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(3).fill([200, 'fine']));
  await gateway.close();
});

test('a response whose head cannot be written ends its call, when the host answers in its place', async () => {
  const gateway = await startGateway(sql, { poolSize: 1 });
  const server = createServer((incoming, outgoing) => {
    const writeHead = outgoing.writeHead.bind(outgoing);
    const isBroken = incoming.url!.startsWith('/api/rows');
    if (isBroken) {
      outgoing.writeHead = () => {
        throw new Error('no head');
      };
    }
    gateway.gateway.middleware(incoming, outgoing, () => {
      outgoing.writeHead = writeHead;
      outgoing.writeHead(500).end('the host');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = async (path: string): Promise<string> => (await fetch(url + path)).text();
  expect(await get('/api/rows?size=100000000')).toBe('the host');
  expect(await get('/api/text-value?size=1')).toBe('x');
  server.closeAllConnections();
  server.close();
  await gateway.close();
});
