import { once } from 'node:events';
import { type IncomingMessage, request as sendRequest } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { crudSource, type EndpointExplanation } from '@pgway/core';
import { gatewayPlugin } from '@pgway/core/fastify';
import { useGateway } from '@pgway/testing';
import { fastify } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';

/** The method QUERY (RFC 10008): requests of GET endpoints that only read, with their parameters in the body. */

const sql = `
  create table film (film_id int primary key, title text not null);
  insert into film values (1, 'Alien'), (2, 'Amelie'), (3, 'Brazil');
  create function find_films(_title text, _ids int[] default null, _limit int default 20) returns setof film language sql stable
  as $$ select * from film where title ilike _title || '%' and (_ids is null or film_id = any (_ids)) order by title limit _limit $$;
  comment on function find_films is 'HTTP GET /films';
  create function film_of(_id int, _part text default '') returns text language sql stable as $$ select title || _part from film where film_id = _id $$;
  comment on function film_of is 'HTTP GET /films/{id}';
  create function cached(_text text default 'a') returns setof text language sql stable as $$ select _text || pg_backend_pid() || clock_timestamp() $$;
  comment on function cached is E'HTTP GET /cached\\ncached\\ncache_expires_in 10 minutes';
  create function guarded(_a int) returns int language sql stable as $$ select _a $$;
  comment on function guarded is E'HTTP GET /guarded\\nauthorize';
  create sequence calls;
  create function draw(_a int default 1) returns bigint language sql volatile as $$ select nextval('calls') $$;
  comment on function draw is 'HTTP GET /draw';
  create function add(_a int) returns int language sql volatile as $$ select _a $$;
  comment on function add is 'HTTP POST /add';
  create function of_body(_a json) returns json language sql stable as $$ select _a $$;
  comment on function of_body is E'HTTP GET /of-body\\nbody_parameter_name _a';
  create function without() returns int language sql stable as $$ select 1 $$;
  comment on function without is 'HTTP GET /without';
  comment on table film is 'HTTP\nGET /film';
`;

let explanations: readonly EndpointExplanation[] = [];
const gateway = useGateway(sql, {
  endpointsExplained: (all) => void (explanations = all),
  batchPath: '/batch',
  sourcesCreated: (sources) => void sources.push(crudSource()),
});

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const allFilms = '[{"filmId":1,"title":"Alien"},{"filmId":2,"title":"Amelie"}]';

test.each([
  ['/films', json, '{"title": "a"}', allFilms],
  [
    '/films',
    { 'content-type': 'application/vnd.films+json; charset=utf-8' },
    '{"title": "a", "ids": [2, 3]}',
    '[{"filmId":2,"title":"Amelie"}]',
  ],
  ['/films', form, 'title=a&ids=2&ids=3', '[{"filmId":2,"title":"Amelie"}]'],
  ['/films/3', json, '{"part": "!"}', 'Brazil!'],
  ['/films/3', json, '', 'Brazil'],
  ['/api/film', json, '{"filmId": 3}', '[{"filmId":3,"title":"Brazil"}]'],
])('QUERY %s %j %j answers as GET does', async (path, headers, body, expected) => {
  const answer = await gateway.send(`QUERY ${path}`, { headers, body });
  expect([answer.status, answer.body]).toEqual([200, expected]);
});

test.each([
  ['/films', { 'content-type': '' }, '{"title": "a"}', 400, 'malformed-body'],
  ['/films', { 'content-type': 'text/plain' }, '{"title": "a"}', 415, 'unsupported-media-type'],
  ['/films', json, '{"title": ', 400, 'malformed-json'],
  ['/films', json, '["a"]', 400, 'body-not-an-object'],
  ['/films', json, '{}', 400, 'missing-parameter'],
  ['/films', json, '{"title": "a", "size": 1}', 400, 'unknown-parameter'],
  ['/films?title=a', json, '{}', 400, 'unknown-parameter'],
  ['/films/3', json, '{"id": 2}', 400, 'unknown-parameter'],
  ['/guarded', json, '{"a": 1}', 401, 'unauthenticated'],
  ['/unknown', json, '{}', 404, undefined],
])('QUERY %s %j %j is refused', async (path, headers, body, ...[status, code]) => {
  const answer = await gateway.send(`QUERY ${path}`, { headers, body });
  expect(answer.status).toBe(status);
  expect(/urn:pgway:problem:([\w-]+)/.exec(answer.body)?.[1]).toBe(code);
  expect(answer.headers.get('accept-query')).toBe(
    status === 415 || code === 'malformed-body' ? 'application/json, application/x-www-form-urlencoded' : null,
  );
});

test.each([
  [
    'title=%ff',
    {
      type: 'malformed-body',
      title: 'The body cannot be read',
      detail: '"%ff" in the form is not percent-encoded UTF-8.',
    },
  ],
  [
    'limit=1',
    {
      type: 'missing-parameter',
      title: 'A required parameter is missing',
      detail: 'Missing in the form: "title" (text).',
      missing: ['title'],
    },
  ],
  [
    'title=a&size=1',
    {
      type: 'unknown-parameter',
      title: 'The request has an unknown parameter',
      detail: '"size" in the form is not a parameter of this endpoint.',
      unknown: ['size'],
    },
  ],
  [
    'title=a&title=b',
    {
      type: 'repeated-parameter',
      title: 'A parameter is given more than once',
      detail: 'The parameter "title" appears 2 times, but takes one value.',
      parameters: ['title'],
    },
  ],
  [
    'title=a' + '&ids=1'.repeat(100_000),
    { type: 'malformed-body', title: 'The body cannot be read', detail: 'The form has more than 100000 parameters.' },
  ],
])('a form that cannot be read: %#', async (body, problem) => {
  const answer = await gateway.send('QUERY /films', { headers: form, body });
  const type = `urn:pgway:problem:${problem.type}`;
  expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { ...problem, type, status: 400 }]);
});

test.each([
  ['/films', form, 'title=a&ids=2', '?title=a&ids=2'],
  ['/films', form, 'title=%C3%A4', '?title=%C3%A4'],
  ['/films/3', form, '', '?'],
  ['/films', form, 'title=a#b', null],
  ['/films', form, 'title=ä', null],
  ['/films', form, 'title=a\r\nset-cookie: a=b', null],
  ['/films', form, `title=a${'&ids=2'.repeat(700)}`, null],
  ['/films', json, '{"title": "a"}', null],
  ['/films', form, 'size=1', null],
])('the Location of %s %j %j is the same request with GET: %s', async (path, headers, body, location) => {
  const answer = await gateway.send(`QUERY ${path}`, { headers, body });
  expect(answer.headers.get('location')).toBe(location);
  if (location === null) return;
  const target = new URL(location, `http://localhost${path}`);
  const same = await gateway.send(`GET ${target.pathname}${target.search}`);
  expect([answer.status, answer.body]).toEqual([same.status, same.body]);
  expect(same.headers.get('location')).toBe(null);
});

test('the explanation of an endpoint tells whether it answers QUERY', () => {
  const query = explanations.flatMap(({ routine, values }) =>
    values.flatMap(({ name, value, reason }) => (name === 'QUERY' ? [`${routine}: ${value}, ${reason}`] : [])),
  );
  expect(query).toEqual(
    expect.arrayContaining([
      'public.draw(_a integer): not answered, it may write',
      'public.film_of(_id integer, _part text): answered, it only reads',
      'public.of_body(_a json): not answered, the body is the value of a parameter',
    ]),
  );
  expect(query.filter((line) => /without|add\(/.test(line))).toEqual([]);
});

test('a body can be longer than a URL', async () => {
  const ids = [...Array.from({ length: 5000 }, (_, index) => index + 10), 2];
  const body = `title=a&${ids.map((id) => `ids=${id}`).join('&')}`;
  const answer = await gateway.send('QUERY /films', { headers: form, body });
  expect([answer.status, answer.body]).toEqual([200, '[{"filmId":2,"title":"Amelie"}]']);
  expect((await gateway.send('QUERY /films', { headers: json, body: { title: 'a', ids } })).body).toBe(answer.body);
});

test.each([
  ['/draw', 'GET, HEAD, OPTIONS'],
  ['/add', 'OPTIONS, POST'],
  ['/of-body', 'GET, HEAD, OPTIONS'],
  ['/without', 'GET, HEAD, OPTIONS'],
])('QUERY %s is 405: the endpoint may write, or has no parameters for a body', async (path, allow) => {
  const answer = await gateway.send(`QUERY ${path}`, { headers: json, body: '{"a": 1}' });
  expect([answer.status, answer.headers.get('allow'), answer.headers.get('accept-query')]).toEqual([405, allow, null]);
  expect(await gateway.database.query('select is_called from calls')).toEqual([{ is_called: false }]);
});

test.each(['OPTIONS', 'POST'])('%s lists QUERY and the types of its bodies', async (method) => {
  const { headers } = await gateway.send(`${method} /films`);
  expect([headers.get('allow'), headers.get('accept-query')]).toEqual([
    'GET, HEAD, OPTIONS, QUERY',
    'application/json, application/x-www-form-urlencoded',
  ]);
});

test('the response is cached by the values, whatever the spelling of the body, and shared with GET', async () => {
  const first = await gateway.send('QUERY /cached', { headers: json, body: '{"text": "b"}' });
  const others = [
    await gateway.send('QUERY /cached', { headers: json, body: '{ "text" : "\\u0062" }' }),
    await gateway.send('QUERY /cached', { headers: form, body: 'text=b' }),
    await gateway.send('GET /cached?text=b'),
  ];
  expect(others.map(({ body }) => body)).toEqual([first.body, first.body, first.body]);
  expect((await gateway.send('QUERY /cached', { headers: json, body: '{"text": "c"}' })).body).not.toBe(first.body);
  expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
  const etag = first.headers.get('etag')!;
  const same = await gateway.send('QUERY /cached', { headers: { ...form, 'if-none-match': etag }, body: 'text=b' });
  expect([same.status, same.body, same.headers.get('etag')]).toEqual([304, '', etag]);
});

test('a request of a batch can be QUERY', async () => {
  const body = [
    { method: 'QUERY', path: '/films', body: { title: 'br' } },
    { method: 'QUERY', path: '/films/1', body: { part: '?' } },
  ];
  const answer = await gateway.send('POST /batch', { body });
  expect(JSON.parse(answer.body)).toMatchObject([
    { status: 200, body: [{ filmId: 3, title: 'Brazil' }] },
    { status: 200, body: 'Alien?' },
  ]);
});

test('an endpoint that the database has changed is loaded again, and the body is not read twice', async () => {
  await gateway.database.query(`
    create function changing(_a int) returns int language sql stable as 'select _a';
    comment on function changing is 'HTTP GET /changing';`);
  await gateway.gateway.refresh();
  expect((await gateway.send('QUERY /changing', { headers: json, body: '{"a": 1}' })).body).toBe('1');
  await gateway.database.query(`
    drop function changing; create function changing(_a text) returns text language sql stable as 'select _a || 1';
    comment on function changing is 'HTTP GET /changing';`);
  expect((await gateway.send('QUERY /changing', { headers: json, body: '{"a": "1"}' })).body).toBe('11');
});

test('from a page of another site: as GET, no other effect', async () => {
  const headers = { ...json, origin: 'https://other.example', 'sec-fetch-site': 'cross-site' };
  expect((await gateway.send('QUERY /films', { headers, body: '{"title": "br"}' })).status).toBe(200);
});

test('through Fastify', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  await app.register(gatewayPlugin, { gateway: gateway.gateway });
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const answer = await new Promise<string>((resolve, reject) => {
    const request = sendRequest(new URL('/films', url), { method: 'QUERY', headers: json }, (response) =>
      resolve(text(response)),
    );
    request.on('error', reject);
    request.end('{"title": "br"}');
  });
  expect(answer).toBe('[{"filmId":3,"title":"Brazil"}]');
});

test('through Fastify, a request without Content-Type has the response of the gateway', async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  await app.register(gatewayPlugin, { gateway: gateway.gateway });
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const ask = async (path: string): Promise<readonly unknown[]> => {
    const request = sendRequest(new URL(path, url), { method: 'QUERY' });
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    const { 'content-type': type, allow, 'accept-query': acceptQuery } = response.headers;
    await text(response);
    return [response.statusCode, type, allow ?? acceptQuery];
  };
  const problem = 'application/problem+json';
  expect(await ask('/draw')).toEqual([405, problem, 'GET, HEAD, OPTIONS']);
  expect(await ask('/guarded')).toEqual([401, problem, undefined]);
  expect(await ask('/films')).toEqual([400, problem, 'application/json, application/x-www-form-urlencoded']);
  expect((await ask('/unknown'))[0]).toBe(404);
  expect(await gateway.database.query('select is_called from calls')).toEqual([{ is_called: false }]);
});

test('over HTTP/2', async () => {
  const server = createHttp2Server((request, response) =>
    gateway.gateway.middleware(request as never, response as never),
  );
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => session.close());
  const stream = session.request({ ':method': 'QUERY', ':path': '/films', ...json });
  stream.end('{"title": "br"}');
  expect(await text(stream)).toBe('[{"filmId":3,"title":"Brazil"}]');
});

test('HTTP QUERY in a comment is an error that names GET', async () => {
  await gateway.database.query(
    `create function asked() returns int language sql stable as 'select 1'; comment on function asked is 'HTTP QUERY /asked'`,
  );
  await gateway.gateway.refresh();
  expect(
    gateway.gateway.diagnostics.find(({ routine, severity }) => severity === 'error' && routine.includes('asked')),
  ).toMatchObject({
    severity: 'error',
    message: '"QUERY" is not a method; endpoints with GET that only read answer QUERY too; write GET',
  });
});
