import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { createGateway, type Gateway } from '@pgway/core';
import { gatewayPlugin, type GatewayPluginOptions } from '@pgway/core/fastify';
import { useDatabase } from '@pgway/testing';
import { fastify, type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../database/support.ts';
import { openStream } from '../events/support.ts';
import { sendRaw } from './support.ts';

const database = useDatabase(`
  create function hello(_name text) returns text language sql immutable as $$ select 'hello ' || _name $$;
  comment on function hello(text) is 'HTTP';
  create function save(_a bigint, _b text default null) returns text language sql volatile as $$ select concat_ws('|', _a, _b) $$;
  comment on function save(bigint, text) is 'HTTP';
  create function many(_count int) returns setof text language sql stable as $$ select repeat('x', 100) from generate_series(1, _count) $$;
  comment on function many(int) is 'HTTP';
  create function headed() returns json language sql immutable as $$ select '{"é": 1}'::json $$;
  comment on function headed() is E'HTTP\\nX-Own: gateway\\nX-Own: twice\\nSet-Cookie: b=2';
  create function fails() returns int language sql volatile as $$ select 1 / 0 $$;
  comment on function fails() is 'HTTP';
  create function nothing() returns void language sql volatile as $$ select $$;
  comment on function nothing() is 'HTTP';
  create function of_bytea() returns bytea language sql immutable as $$ select '\\x00ff'::bytea $$;
  comment on function of_bytea() is 'HTTP';
  create function breaks_late() returns setof int language sql stable as $$ select 1 / (300001 - i) from (select generate_series(1, 300001) i) s $$;
  comment on function breaks_late() is 'HTTP';
  create function sleeping() returns text language sql volatile as $$ select pg_sleep(60)::text $$;
  comment on function sleeping() is 'HTTP GET';
  create function endless() returns setof text language sql stable as $$ select repeat('z', 1000) from (select generate_series(1, 100000000)) s $$;
  comment on function endless() is 'HTTP GET';
  create function tell(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
  comment on function tell is E'HTTP POST\\ninfo_path\\ninfo_scope all';
`);

let gateway: Gateway;

beforeAll(async () => {
  gateway = await createGateway({ connectionString: database.connectionString, maxBodySize: 1000, poolSize: 3 });
});
afterAll(() => gateway.close());

interface Host {
  /** Registers plugins and routes before the gateway. */
  readonly before?: (app: FastifyInstance) => unknown;
  /** Registers plugins and routes after it. */
  readonly after?: (app: FastifyInstance) => unknown;
  readonly server?: FastifyServerOptions;
  readonly options?: Partial<GatewayPluginOptions>;
}

/** A gateway for one server: its streams end with it. */
async function ownGateway(): Promise<Gateway> {
  const own = await createGateway(database.connectionString);
  onTestFinished(() => own.close());
  return own;
}

/** A server of Fastify with the gateway in it, on a real port. */
async function listen({ before, after, server = {}, options = {} }: Host = {}): Promise<string> {
  const app: FastifyInstance = fastify({ forceCloseConnections: true, ...server });
  onTestFinished(() => app.close());
  await before?.(app);
  await app.register(gatewayPlugin, { gateway, ...options });
  await after?.(app);
  return app.listen({ host: '127.0.0.1', port: 0 });
}

async function fetched(url: string, init: RequestInit = {}): Promise<readonly [number, string | null, string]> {
  const response = await fetch(url, init);
  return [response.status, response.headers.get('content-type'), await response.text()];
}

const textType = 'text/plain; charset=utf-8';
const post = (body: string, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body,
});

async function isRunning(part: string): Promise<boolean> {
  const rows = await database.query(
    `select from pg_stat_activity where datname = current_database() and state = 'active' and query like $1 and pid <> pg_backend_pid()`,
    [`%${part}%`],
  );
  return rows.length > 0;
}

describe('answers', () => {
  test('are byte for byte those of the middleware, heads too', async () => {
    const url = await listen();
    const alone = createServer(gateway.middleware);
    onTestFinished(() => void alone.close());
    await new Promise<void>((resolve) => alone.listen(0, '127.0.0.1', resolve));
    const { port } = alone.address() as { port: number };
    const json = { 'content-type': 'application/json' };
    for (const request of [
      { path: '/api/hello?name=x' },
      { path: '/api/hello?name=x', method: 'HEAD' },
      { path: '/api/hello?nam=x' },
      { path: '/api/hello?name=x', method: 'DELETE' },
      { path: '/api/headed' },
      { path: '/api/of-bytea' },
      { path: '/api/many?count=0' },
      { path: '/api/many?count=50000' },
      { path: '/api/save', method: 'POST', headers: json, body: '{"a":9007199254740993,"b":"é🎈"}' },
      { path: '/api/fails', method: 'POST' },
      { path: '/api/nothing', method: 'POST' },
    ]) {
      const [ours, theirs] = await Promise.all([sendRaw(url, request), sendRaw(`http://127.0.0.1:${port}`, request)]);
      const { date: _date, ...head } = ours.headers;
      const { date: _, ...expected } = theirs.headers;
      expect([request.path, ours.status, head]).toEqual([request.path, theirs.status, expected]);
      expect(ours.body.equals(theirs.body)).toBe(true);
    }
  });

  test('an unknown path is the not-found handler of Fastify, the default one or one of the program', async () => {
    expect(await fetched(`${await listen()}/other?x=1`, post('{"a":'))).toEqual([
      404,
      'application/json; charset=utf-8',
      '{"message":"Route POST:/other?x=1 not found","error":"Not Found","statusCode":404}',
    ]);
    const after = (app: FastifyInstance): unknown =>
      app.setNotFoundHandler((request, reply) => reply.code(299).send(`none ${request.method} ${request.url}`));
    expect(await fetched(`${await listen({ after })}/other?x=1`)).toEqual([299, textType, 'none GET /other?x=1']);
  });

  test('a route of the program goes before; its body is parsed as ever', async () => {
    const before = (app: FastifyInstance): unknown => app.post('/api/save', (request) => ({ host: request.body }));
    const after = (app: FastifyInstance): unknown => app.put('/:any', (request) => ({ host: request.body }));
    const url = await listen({ before, after });
    expect((await fetched(`${url}/api/save`, post('{"a":1}')))[2]).toBe('{"host":{"a":1}}');
    expect((await fetched(`${url}/x`, { ...post('{"a":1}'), method: 'PUT' }))[2]).toBe('{"host":{"a":1}}');
    expect(await fetched(`${url}/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
  });

  test('another method of a published path: 405, and OPTIONS says which there are', async () => {
    const url = await listen();
    expect((await fetched(`${url}/api/hello`, { method: 'DELETE' })).slice(0, 2)).toEqual([
      405,
      'application/problem+json',
    ]);
    const { status, headers } = await fetch(`${url}/api/hello`, { method: 'OPTIONS' });
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, QUERY']);
  });

  test('with a prefix, all other paths are not its own', async () => {
    const after = (app: FastifyInstance): unknown => app.get('/*', (request) => `host ${request.url}`);
    const url = await listen({ after, options: { prefix: '/api' } });
    expect(await fetched(`${url}/api/hello?name=x`)).toEqual([200, textType, 'hello x']);
    expect(await fetched(`${url}/apis`)).toEqual([200, textType, 'host /apis']);
    expect((await fetched(`${url}/api/none`))[0]).toBe(404);
  });

  test('a body of any type is left to the gateway, with its limit', async () => {
    const url = await listen({ server: { bodyLimit: 10 } });
    expect(await fetched(`${url}/api/save`, post(`{"a":1,"b":"${'x'.repeat(100)}"}`))).toEqual([
      200,
      textType,
      `1|${'x'.repeat(100)}`,
    ]);
    for (const [init, status, code] of [
      [post(`{"a":1,"b":"${'x'.repeat(1000)}"}`), 413, 'body-too-large'],
      [post('<a/>', 'application/xml'), 415, 'unsupported-media-type'],
      [post('{"a":', 'application/json'), 400, 'malformed-json'],
      [post('{"a":1,"c":2}'), 400, 'unknown-parameter'],
      [post('[]'), 400, 'body-not-an-object'],
    ] as const) {
      const [answered, type, body] = await fetched(`${url}/api/save`, init);
      expect([answered, type]).toEqual([status, 'application/problem+json']);
      expect(JSON.parse(body)).toMatchObject({ type: `urn:pgway:problem:${code}` });
    }
  });

  test('a program that forgets the gateway is told', async () => {
    const app = fastify();
    await expect(app.register(gatewayPlugin, {} as GatewayPluginOptions)).rejects.toThrow(
      'the plugin needs a gateway: app.register(gatewayPlugin, { gateway: await createGateway(…) })',
    );
  });
});

describe('hooks and headers of the program', () => {
  const everywhere = ['/api/hello?name=x', '/api/hello', '/api/many?count=100000', '/api/headed', '/none'];

  test.each(everywhere)('GET %s has headers of reply.header; those of the answer win', async (path) => {
    const before = (app: FastifyInstance): unknown =>
      app.addHook('onRequest', async (_, reply) => {
        reply.headers({ 'x-host': 'host', 'x-own': 'host', vary: 'Origin' }).header('set-cookie', 'a=1');
      });
    const { headers, ...response } = await fetch((await listen({ before })) + path);
    await response.body?.cancel();
    const headed = path === '/api/headed';
    expect([headers.get('x-host'), headers.get('x-own'), headers.getSetCookie()]).toEqual([
      'host',
      headed ? 'gateway, twice' : 'host',
      headed ? ['a=1', 'b=2'] : ['a=1'],
    ]);
    expect(headers.get('vary')).toMatch(/^Origin\b/);
  });

  test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)('%s may refuse', async (hook) => {
    const refuse = async (
      _: unknown,
      reply: { code(status: number): { send(body: string): unknown } },
    ): Promise<unknown> => reply.code(401).send('no');
    const before = (app: FastifyInstance): unknown => app.addHook(hook as 'onRequest', refuse as never);
    const url = await listen({ before });
    expect(await fetched(`${url}/api/save`, post('{"a":1}'))).toEqual([401, textType, 'no']);
  });

  test('onSend sees the answer and may change it, onResponse hears of it; no serializer touches it', async () => {
    const heard: string[] = [];
    const before = (app: FastifyInstance): void => {
      app.setReplySerializer(() => 'serialized');
      app.addHook('onSend', async (request, reply, payload) => {
        reply.header('x-seen', `${request.method} ${reply.statusCode}`);
        return request.url.endsWith('?name=other') ? 'changed' : payload;
      });
      app.addHook('onResponse', async (request, reply) => void heard.push(`${request.url} ${reply.statusCode}`));
    };
    const url = await listen({ before });
    const { headers } = await fetch(`${url}/api/save`, post('{"a":1}'));
    expect(headers.get('x-seen')).toBe('POST 200');
    expect((await fetched(`${url}/api/headed`))[2]).toBe('{"é": 1}');
    expect((await fetched(`${url}/api/hello?name=other`))[2]).toBe('changed');
    await until('all were heard', () => heard.length === 3);
    expect(heard).toEqual(['/api/save 200', '/api/headed 200', '/api/hello?name=other 200']);
  });

  test('an answer that onSend has replaced leaves no call running', async () => {
    const before = (app: FastifyInstance): unknown => app.addHook('onSend', async () => 'changed');
    const url = await listen({ before });
    expect((await fetched(`${url}/api/endless`))[2]).toBe('changed');
    await until('the call has ended', async () => !(await isRunning('endless')));
  });
});

describe('other plug-ins', () => {
  test('@fastify/cors', async () => {
    const before = (app: FastifyInstance): unknown => app.register(cors, { origin: 'https://a.example' });
    const url = await listen({ before });
    const origin = { origin: 'https://a.example' };
    for (const path of ['/api/hello?name=x', '/api/hello', '/api/many?count=100000']) {
      const { headers, ...response } = await fetch(url + path, { headers: origin });
      await response.body?.cancel();
      expect(headers.get('access-control-allow-origin')).toBe('https://a.example');
    }
    const preflight = await fetch(`${url}/api/save`, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'https://a.example',
    ]);
  });

  test('@fastify/cors that varies by origin, beside the Vary of the answer', async () => {
    const before = (app: FastifyInstance): unknown => app.register(cors, { origin: [/example$/] });
    const { headers } = await fetch(`${await listen({ before })}/api/many?count=1`);
    expect(headers.get('vary')).toBe('Origin, accept');
  });

  test('@fastify/helmet', async () => {
    const before = (app: FastifyInstance): unknown => app.register(helmet);
    const url = await listen({ before });
    for (const path of ['/api/hello?name=x', '/api/hello', '/api/many?count=100000']) {
      const { headers, ...response } = await fetch(url + path);
      await response.body?.cancel();
      expect([headers.get('x-content-type-options'), headers.get('x-frame-options')]).toEqual([
        'nosniff',
        'SAMEORIGIN',
      ]);
      expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    }
  });

  test('@fastify/rate-limit counts calls, and its headers are on answers and errors', async () => {
    const before = (app: FastifyInstance): unknown => app.register(rateLimit, { max: 2, timeWindow: '1 hour' });
    const url = await listen({ before });
    const left: (string | null)[] = [];
    for (const path of ['/api/hello?name=x', '/api/hello', '/api/hello?name=x']) {
      const { status, headers } = await fetch(url + path);
      left.push(`${status} ${headers.get('x-ratelimit-remaining')}`);
    }
    expect(left).toEqual(['200 1', '400 0', '429 0']);
  });

  test('@fastify/compress: answers, streams, and bodies of requests; not streams of events', async () => {
    const before = (app: FastifyInstance): unknown => app.register(compress);
    const url = await listen({ before, options: { gateway: await ownGateway() } });
    for (const count of [100, 100_000]) {
      const path = `/api/many?count=${count}`;
      const zipped = await sendRaw(url, { path, headers: { 'accept-encoding': 'gzip' } });
      expect([zipped.status, zipped.headers['content-encoding']]).toEqual([200, 'gzip']);
      expect(zipped.headers.vary).toBe('accept, accept-encoding');
      const [, , body] = await fetched(url + path);
      expect(JSON.parse(body)).toHaveLength(count);
    }
    const body = gzipSync('{"a":1,"b":"zipped"}');
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await sendRaw(url, { method: 'POST', path: '/api/save', headers, body });
    expect([answer.status, answer.body.toString()]).toEqual([200, '1|zipped']);
    const stream = await openStream(url, '/api/tell/info', { 'accept-encoding': 'gzip' });
    expect([stream.status, stream.headers['content-encoding']]).toEqual([200, undefined]);
  });
});

describe('streams', () => {
  test('a large answer is whole', async () => {
    const { status, headers, body } = await sendRaw(await listen(), { path: '/api/many?count=200000' });
    expect([status, headers['transfer-encoding']]).toEqual([200, 'chunked']);
    expect(JSON.parse(body.toString())).toHaveLength(200_000);
  });

  test.each([
    ['alone', undefined],
    ['compressed', (app: FastifyInstance): unknown => app.register(compress)],
  ])('an answer that breaks after it began is cut off, %s', async (_, before) => {
    const url = await listen(before === undefined ? {} : { before });
    await expect(fetched(`${url}/api/breaks-late`)).rejects.toBeInstanceOf(Error);
    expect((await fetched(`${url}/api/hello?name=x`))[0]).toBe(200);
  });

  test.each([
    ['alone', undefined],
    ['compressed', (app: FastifyInstance): unknown => app.register(compress)],
  ])('a reader that leaves ends its call, %s', async (_, before) => {
    const url = await listen(before === undefined ? {} : { before });
    for (const path of ['/api/sleeping', '/api/endless']) {
      const leaving = new AbortController();
      const part = path.slice('/api/'.length);
      const gone = fetch(url + path, { signal: leaving.signal }).then(
        async (response) => (await response.body!.getReader().read()).done,
        (error: Error) => error.name,
      );
      await until(`${part} runs`, () => isRunning(part));
      if (part === 'endless') await gone;
      leaving.abort();
      await gone;
      await until(`${part} has ended`, async () => !(await isRunning(part)));
    }
    expect((await fetched(`${url}/api/hello?name=x`))[0]).toBe(200);
  });

  test('events arrive, and the end of the server ends them', async () => {
    const app = fastify();
    await app.register(gatewayPlugin, { gateway: await ownGateway() });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const stream = await openStream(url, '/api/tell/info');
    expect(stream.headers['content-type']).toBe('text/event-stream');
    expect((await fetched(`${url}/api/tell`, post('{"text":"hello"}')))[0]).toBe(204);
    expect(await stream.messages(1)).toEqual(['hello']);
    await app.close();
    await stream.over();
    expect(stream.ended).toBe(true);
  });
});
