import { createGateway, type Observation } from '@pgway/core';
import { gatewayPlugin } from '@pgway/core/fastify';
import { useGateway } from '@pgway/testing';
import { fastify } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RawAnswer, sendRaw } from './support.ts';

const sql = `
  create function hello(_name text) returns text language sql immutable as $$ select 'hello ' || _name $$;
  comment on function hello(text) is 'HTTP';
  create function many(_count int) returns setof text language sql stable as $$ select repeat('x', 100) from generate_series(1, _count) $$;
  comment on function many(int) is 'HTTP';
  create function headed() returns text language sql immutable as $$ select 'x' $$;
  comment on function headed() is E'HTTP\\nX-Request-Id: endpoint';
  create function nothing() returns void language sql volatile as $$ select $$;
  comment on function nothing() is 'HTTP';
  create function broken() returns int language plpgsql as $$ begin execute 'select no_such_column'; end $$;
  comment on function broken() is 'HTTP';
`;

const made = /^[0-9a-f]{12}-[0-9a-z]+$/;

function idOf({ headers }: RawAnswer): unknown {
  return headers['x-request-id'];
}

function failure(observations: readonly Observation[]): Extract<Observation, { kind: 'request-failed' }> {
  const last = observations.at(-1)!;
  if (last.kind !== 'request-failed') throw new Error(`no failure, but ${last.kind}`);
  return last;
}

describe('requestIdHeader', () => {
  const gateway = useGateway(sql, { requestIdHeader: true });

  test.each([
    ['GET', '/api/hello?name=x', 200],
    ['HEAD', '/api/hello?name=x', 200],
    ['GET', '/api/hello', 400],
    ['DELETE', '/api/hello', 405],
    ['GET', '/api/many?count=100000', 200],
    ['POST', '/api/nothing', 204],
    ['POST', '/api/broken', 500],
    ['GET', '/none', 404],
  ])('%s %s: the answer has the id that the request brought, or a new one', async (method, path, status) => {
    const answer = await sendRaw(gateway.url, { method, path, headers: { 'x-request-id': 'a/b;c=1' } });
    expect([answer.status, idOf(answer)]).toEqual([status, 'a/b;c=1']);
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => idOf(await sendRaw(gateway.url, { method, path }))),
    );
    for (const id of ids) expect(id).toMatch(made);
    expect(new Set(ids).size).toBe(5);
  });

  test.each([
    ['129 characters', 'x'.repeat(129)],
    ['a space', 'a b'],
    ['nothing', ''],
    ['a tab', 'a\tb'],
    ['no ASCII', 'é'],
    ['two of them', ['a', 'b']],
  ])('an id with %s is not taken', async (_, id) => {
    const answer = await sendRaw(gateway.url, { path: '/api/hello?name=x', headers: { 'x-request-id': id } });
    expect([answer.status, answer.rawHeaders.filter((name) => name === 'x-request-id')]).toEqual([
      200,
      ['x-request-id'],
    ]);
    expect(idOf(answer)).toMatch(made);
  });

  test('128 characters are taken', async () => {
    const id = '~'.repeat(128);
    const answer = await sendRaw(gateway.url, { path: '/api/hello?name=x', headers: { 'x-request-id': id } });
    expect(idOf(answer)).toBe(id);
  });

  test('a failure is found in the log by the id of its answer, in the head and in the body', async () => {
    const answer = await sendRaw(gateway.url, { method: 'POST', path: '/api/broken' });
    const body = JSON.parse(answer.body.toString()) as object;
    expect(body).toMatchObject({ status: 500, code: '42703', correlationId: idOf(answer) });
    const { request, correlationId } = failure(gateway.observations);
    expect([request.id, correlationId]).toEqual([idOf(answer), idOf(answer)]);
  });

  test('by fetch too', async () => {
    const answer = await gateway.gateway.fetch(
      new Request('http://host.example/api/hello?name=x', { headers: { 'x-request-id': 'r1' } }),
    );
    expect(answer!.headers.get('x-request-id')).toBe('r1');
  });
});

describe('without it', () => {
  const gateway = useGateway(sql, { returnGatewayExceptionMessage: false });

  test('answers have no such header; a failure has the id of its log line in the body', async () => {
    const answer = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/broken',
      headers: { 'x-request-id': 'r1' },
    });
    expect([answer.status, idOf(answer)]).toEqual([500, undefined]);
    expect(JSON.parse(answer.body.toString())).toEqual({
      type: 'urn:pgway:problem:database-error',
      title: 'The database refused the request',
      status: 500,
      correlationId: 'r1',
    });
    expect(failure(gateway.observations).correlationId).toBe('r1');
  });

  test('in Fastify the id is that of its request', async () => {
    const app = fastify({ genReqId: () => 'host-1' });
    onTestFinished(() => app.close());
    const own = await createGateway(gateway.database.connectionString);
    onTestFinished(() => own.close());
    await app.register(gatewayPlugin, { gateway: own });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await sendRaw(url, { method: 'POST', path: '/api/broken' });
    expect(JSON.parse(answer.body.toString())).toMatchObject({ status: 500, correlationId: 'host-1' });
  });
});
