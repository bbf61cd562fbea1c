import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { plain, problem, problemOf } from './support.ts';

const gateway = useGateway(`
  create sequence calls;
  create function hello(_name text) returns text language sql immutable as $$ select 'hello ' || _name $$;
  comment on function hello(text) is 'HTTP';
  create function rows() returns table (a int) language sql immutable as $$ select generate_series(1, 3) $$;
  comment on function rows() is 'HTTP';
  create function many() returns table (a text) language sql immutable
    as $$ select repeat('x', 1000) from generate_series(1, 2000) $$;
  comment on function many() is 'HTTP';
  create function nothing() returns void language sql immutable as $$ select $$;
  comment on function nothing() is 'HTTP GET';
  create function write() returns bigint language sql volatile as $$ select nextval('calls') $$;
  comment on function write() is 'HTTP';
  create function item(_id int) returns int language sql immutable as $$ select _id $$;
  comment on function item(int) is 'HTTP GET /item/{id}';
`);

test.each([
  ['/api/hello?name=world', 'text/plain; charset=utf-8', '11'],
  ['/api/rows', 'application/json', '25'],
  ['/item/42', 'text/plain; charset=utf-8', '2'],
])('HEAD %s has the headers of GET and no body', async (path, type, length) => {
  const head = await gateway.send(`HEAD ${path}`);
  expect(plain(head)).toEqual({ status: 200, type, body: '' });
  expect(head.headers.get('content-length')).toBe(length);
});

test('HEAD of a long answer', async () => {
  expect(plain(await gateway.send('HEAD /api/many'))).toEqual({ status: 200, type: 'application/json', body: '' });
});

test('HEAD of no content', async () => {
  expect(plain(await gateway.send('HEAD /api/nothing'))).toEqual({ status: 204, type: null, body: '' });
});

test('HEAD of a refusal has its status and no body', async () => {
  const head = await gateway.send('HEAD /api/hello');
  expect(plain(head)).toEqual({ status: 400, type: 'application/problem+json', body: '' });
});

test('HEAD of a POST endpoint is 405 and calls nothing', async () => {
  const head = await gateway.send('HEAD /api/write');
  expect({ status: head.status, allow: head.headers.get('allow') }).toEqual({ status: 405, allow: 'OPTIONS, POST' });
  expect(await gateway.database.query('select is_called from calls')).toEqual([{ is_called: false }]);
});

test.each([
  ['/api/hello', 'GET, HEAD, OPTIONS, QUERY'],
  ['/api/write', 'OPTIONS, POST'],
  ['/item/5', 'GET, HEAD, OPTIONS'],
])('OPTIONS %s answers Allow', async (path, allow) => {
  const answer = await gateway.send(`OPTIONS ${path}`);
  expect(plain(answer)).toEqual({ status: 204, type: null, body: '' });
  expect(answer.headers.get('allow')).toBe(allow);
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
});

test('OPTIONS of an unknown path is 404', async () => {
  expect(problem(await gateway.send('OPTIONS /api/unknown'))).toMatchObject(problemOf(404));
});
