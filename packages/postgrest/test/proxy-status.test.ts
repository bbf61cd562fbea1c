import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

const gateway = useGateway(
  `
  create table author (id int primary key, name text unique);
  insert into author values (1, 'Ada');
  create table note (id int);
  comment on table note is 'authorize';
  create function fail_with(code text) returns int language plpgsql as $$ begin
    raise sqlstate 'PGRST' using
      message = json_build_object('code', code, 'message', 'refused')::text,
      detail = json_build_object('status', 418, 'headers', json_build_object())::text;
  end $$;
  `,
  { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll', serverTiming: true },
);

async function proxyStatus(line: string, body?: unknown): Promise<readonly unknown[]> {
  const { status, headers } = await gateway.send(line, body === undefined ? {} : { body });
  return [status, headers.get('proxy-status')];
}

test('an error has its code in a header', async () => {
  expect(await proxyStatus('GET /rest/author')).toEqual([200, null]);
  expect(await proxyStatus('GET /rest/author?nam=eq.1')).toEqual([400, 'PostgREST; error=42703']);
  expect(await proxyStatus('HEAD /rest/author?id=eq.x')).toEqual([400, 'PostgREST; error=22P02']);
  expect(await proxyStatus('GET /rest/book')).toEqual([404, 'PostgREST; error=PGRST205']);
  expect(await proxyStatus('POST /rest/author', { id: 2, name: 'Ada' })).toEqual([409, 'PostgREST; error=23505']);
});

test('the code of a raised error is a header only if it has the form of a code', async () => {
  expect(await proxyStatus('POST /rest/rpc/fail_with', { code: 'tea-pot' })).toEqual([418, 'PostgREST; error=tea-pot']);
  for (const code of ['a b', 'a;b=c', '', 'é', 'a\nb', 'a'.repeat(41)]) {
    expect(await proxyStatus('POST /rest/rpc/fail_with', { code })).toEqual([418, null]);
  }
});

test('Server-Timing has the phases that the request has reached', async () => {
  const all = 'jwt, parse, plan, transaction, response';
  for (const [line, status, phases, body] of [
    ['GET /rest/author', 200, all],
    ['HEAD /rest/', 200, all],
    ['PATCH /rest/author?id=eq.1', 204, all, { name: 'Ada' }],
    ['POST /rest/rpc/fail_with', 418, 'jwt, parse, plan, transaction', { code: 'x' }],
    ['GET /rest/author?id=eq.x', 400, 'jwt, parse, plan, transaction'],
    ['GET /rest/author?id=x', 400, 'jwt, parse'],
    ['GET /rest/note', 401, 'jwt'],
    ['GET /rest/book', 404, 'jwt, parse, response'],
    ['OPTIONS /rest/author', 200, 'jwt, parse, response'],
  ] as const) {
    const response = await gateway.send(line, body === undefined ? {} : { body });
    const timing = response.headers.get('server-timing')?.replaceAll(/;dur=\d+\.\d{3}\b/g, '');
    expect([line, response.status, timing]).toEqual([line, status, phases]);
  }
});
