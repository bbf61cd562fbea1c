import { createServer, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createGateway, type Gateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import express, { type Express } from 'express';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sendRaw } from './support.ts';

const database = useDatabase(`
  create function hello(_name text) returns text language sql immutable as $$ select 'hello ' || _name $$;
  comment on function hello(text) is 'HTTP';
  create function save(_a int, _b text default null) returns text language sql volatile as $$ select concat_ws('|', _a, _b) $$;
  comment on function save(int, text) is 'HTTP';
  create function many(_count int) returns setof text language sql stable as $$ select repeat('x', 100) from generate_series(1, _count) $$;
  comment on function many(int) is 'HTTP';
  create function headed() returns text language sql immutable as $$ select 'x' $$;
  comment on function headed() is E'HTTP\\nX-Own: gateway\\nX-Own: twice\\nSet-Cookie: b=2';
  create function fails() returns int language sql volatile as $$ select 1 / 0 $$;
  comment on function fails() is 'HTTP';
`);

let gateway: Gateway;
let server: Server | undefined;

beforeAll(async () => {
  gateway = await createGateway(database.connectionString);
});
afterAll(() => gateway.close());
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

function listen(app: Express): Promise<string> {
  return new Promise((resolve) => {
    const listening = createServer(app);
    server = listening;
    listening.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`));
  });
}

async function fetched(url: string, init: RequestInit = {}): Promise<readonly [number, string | null, string]> {
  const response = await fetch(url, init);
  return [response.status, response.headers.get('content-type'), await response.text()];
}

const textType = 'text/plain; charset=utf-8';
const jsonBody = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
});

test('minimal use', async () => {
  const app = express();
  app.use(gateway.middleware);
  const url = await listen(app);
  expect(await fetched(`${url}/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
  expect(await fetched(`${url}/api/save`, jsonBody('{"a":1,"b":"x"}'))).toEqual([200, textType, '1|x']);
});

test('the next handler gets an unknown path, and ours with another method, first', async () => {
  const app = express();
  app.use(gateway.middleware);
  app.use((request, response) => void response.status(299).send(`host ${request.method} ${request.url}`));
  const url = await listen(app);
  expect((await fetched(`${url}/other?x=1`)).toSpliced(1, 1)).toEqual([299, 'host GET /other?x=1']);
  expect((await fetched(`${url}/api/hello`, { method: 'DELETE' })).toSpliced(1, 1)).toEqual([
    299,
    'host DELETE /api/hello',
  ]);
  expect((await fetched(`${url}/api/hello`, { method: 'OPTIONS' })).toSpliced(1, 1)).toEqual([
    299,
    'host OPTIONS /api/hello',
  ]);
  expect(await fetched(`${url}/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
});

test('a body that it did not read is still there for the next handler', async () => {
  const app = express();
  app.use(gateway.middleware);
  app.use(express.json());
  app.use((request, response) => void response.send(request.body));
  const url = await listen(app);
  expect((await fetched(`${url}/other`, jsonBody('{"mine":true}'))).at(-1)).toBe('{"mine":true}');
  expect((await fetched(`${url}/api/hello`, jsonBody('{"mine":true}'))).at(-1)).toBe('{"mine":true}');
});

test.each([
  ['express.json()', express.json()],
  ['express.text()', express.text({ type: '*/*' })],
  ['express.raw()', express.raw({ type: '*/*' })],
])('a body that %s has read already', async (_, parser) => {
  const app = express();
  app.use(parser);
  app.use(gateway.middleware);
  const url = await listen(app);
  expect(await fetched(`${url}/api/save`, jsonBody('{"a":1,"b":"é🎈"}'))).toEqual([200, textType, '1|é🎈']);
  expect((await fetched(`${url}/api/save`, jsonBody('{"a":1,"c":2}')))[0]).toBe(400);
  expect((await fetched(`${url}/api/save`, jsonBody('{}')))[0]).toBe(400);
  expect(await fetched(`${url}/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
});

test('a form that a parser has read is a form: 415', async () => {
  const app = express();
  app.use(express.urlencoded());
  app.use(gateway.middleware);
  const url = await listen(app);
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' };
  expect((await fetched(`${url}/api/save`, form))[0]).toBe(415);
});

test('mounted under a path', async () => {
  const app = express();
  app.use('/mounted', gateway.middleware);
  app.use((request, response) => void response.status(299).send(request.originalUrl));
  const url = await listen(app);
  expect(await fetched(`${url}/mounted/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
  expect((await fetched(`${url}/api/hello?name=x`))[0]).toBe(299);
  expect((await fetched(`${url}/mounted/api/nothing`)).toSpliced(1, 1)).toEqual([299, '/mounted/api/nothing']);
});

test('a host that replaces `end`, such as to save a session before the last byte, gets short bodies by it', async () => {
  const calls: unknown[] = [];
  const app = express();
  app.use((_, response, next) => {
    const record = (name: 'write' | 'end') => ({
      value: (...parts: unknown[]) => {
        calls.push([name, ...parts]);
        setImmediate(() => Reflect.apply(ServerResponse.prototype[name], response, parts));
        return true;
      },
    });
    Object.defineProperties(response, { write: record('write'), end: record('end') });
    next();
  });
  app.use(gateway.middleware);
  const url = await listen(app);
  expect(await fetched(`${url}/api/hello?name=é`)).toEqual([200, textType, 'hello é']);
  expect(calls).toEqual([['end', Buffer.from('hello é').toString('latin1'), 'latin1']]);
});

test('short responses to a client that pipelines come in order, HEAD without a body', async () => {
  const app = express();
  app.use(gateway.middleware);
  const { hostname, port } = new URL(await listen(app));
  const client = connect(Number(port), hostname);
  const request = (line: string, headers = ''): string => `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
  client.write(
    request('GET /api/hello?name=a') +
      request('HEAD /api/hello?name=bb') +
      request('POST /api/save', 'Content-Type: application/json\r\nContent-Length: 7\r\n') +
      '{"a":1}' +
      request('GET /api/hello?name=c', 'Connection: close\r\n'),
  );
  const responses = (await text(client)).split('HTTP/1.1 ').slice(1);
  const parts = responses.map((response) => [
    response.slice(0, 3),
    /^content-length: (\d+)/im.exec(response)?.[1],
    response.slice(response.indexOf('\r\n\r\n') + 4),
  ]);
  expect(parts).toEqual([
    ['200', '7', 'hello a'],
    ['200', '8', ''],
    ['200', '1', '1'],
    ['200', '7', 'hello c'],
  ]);
});

test('headers of the host stay, and ours win', async () => {
  const app = express();
  app.use((_, response, next) => {
    response.setHeader('X-Host', 'host');
    response.setHeader('X-Own', 'host');
    response.setHeader('Vary', ['Origin', 'X-Other']);
    next();
  });
  app.use(gateway.middleware);
  const url = await listen(app);
  for (const path of ['/api/headed', '/api/many?count=100000']) {
    const response = await fetch(url + path);
    expect([response.status, response.headers.get('x-host'), response.headers.get('vary')]).toEqual([
      200,
      'host',
      expect.stringMatching(/^Origin, X-Other\b/),
    ]);
    expect(response.headers.get('x-own')).toBe(path === '/api/headed' ? 'gateway, twice' : 'host');
    await response.text();
  }
});

test("a cookie of the host stays beside the endpoint's own", async () => {
  const app = express();
  app.use((_, response, next) => {
    response.setHeader('Set-Cookie', 'a=1');
    next();
  });
  app.use(gateway.middleware);
  const url = await listen(app);
  expect((await fetch(`${url}/api/headed`)).headers.getSetCookie()).toEqual(['a=1', 'b=2']);
});

test('errors of the database are answered, not passed on', async () => {
  const app = express();
  app.use(gateway.middleware);
  app.use((_request: unknown, response: express.Response) => void response.status(299).end());
  const url = await listen(app);
  expect((await fetched(`${url}/api/fails`, { method: 'POST' })).slice(0, 2)).toEqual([
    400,
    'application/problem+json',
  ]);
});

test('a router that rewrites the URL', async () => {
  const app = express();
  const router = express.Router();
  router.use(gateway.middleware);
  app.use('/a', express.Router().use('/b', router));
  const url = await listen(app);
  expect(await fetched(`${url}/a/b/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
});

test('without a next handler, what is not ours is 404', async () => {
  server = createServer(gateway.middleware);
  const listening = server;
  const url = await new Promise<string>((resolve) => {
    listening.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`));
  });
  expect((await fetched(`${url}/other`)).slice(0, 2)).toEqual([404, 'application/problem+json']);
  expect((await sendRaw(url, { method: 'OPTIONS', path: '*' })).status).toBe(404);
});
