import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { plain, problem, problemOf, sendRaw, text } from './support.ts';

describe('the method by name and volatility', () => {
  const gateway = useGateway(`
    create function get_volatile() returns text language sql volatile as $$ select 'x' $$;
    create function volatile_get() returns text language sql volatile as $$ select 'x' $$;
    create function they_get_it() returns text language sql volatile as $$ select 'x' $$;
    create function "GET_upper"() returns text language sql volatile as $$ select 'x' $$;
    create function "Mixed_Get"() returns text language sql volatile as $$ select 'x' $$;
    create function stable_one() returns text language sql stable as $$ select 'x' $$;
    create function immutable_one() returns text language sql immutable as $$ select 'x' $$;
    create function volatile_one() returns text language sql volatile as $$ select 'x' $$;
    create function getter() returns text language sql volatile as $$ select 'x' $$;
    create function budget() returns text language sql volatile as $$ select 'x' $$;
    create function target_getter() returns text language sql volatile as $$ select 'x' $$;
    create procedure get_proc() language sql as $$ select 1 $$;
    comment on function get_volatile() is 'HTTP'; comment on function volatile_get() is 'HTTP';
    comment on function they_get_it() is 'HTTP'; comment on function "GET_upper"() is 'HTTP';
    comment on function "Mixed_Get"() is 'HTTP'; comment on function stable_one() is 'HTTP';
    comment on function immutable_one() is 'HTTP'; comment on function volatile_one() is 'HTTP';
    comment on function getter() is 'HTTP'; comment on function budget() is 'HTTP';
    comment on function target_getter() is 'HTTP'; comment on procedure get_proc() is 'HTTP';
  `);

  test.each([
    ['GET', '/api/get-volatile'],
    ['GET', '/api/volatile-get'],
    ['GET', '/api/they-get-it'],
    ['GET', '/api/get-upper'],
    ['GET', '/api/mixed-get'],
    ['GET', '/api/stable-one'],
    ['GET', '/api/immutable-one'],
    ['POST', '/api/volatile-one'],
    ['POST', '/api/getter'],
    ['POST', '/api/budget'],
    ['POST', '/api/target-getter'],
  ])('%s %s', async (method, path) => {
    expect(plain(await gateway.send(`${method} ${path}`))).toEqual(text('x'));
    const other = method === 'GET' ? 'POST' : 'GET';
    expect(problem(await gateway.send(`${other} ${path}`))).toMatchObject(problemOf(405));
  });

  test('a procedure is POST, whatever its name', async () => {
    expect((await gateway.send('POST /api/get-proc')).status).toBe(204);
    expect(problem(await gateway.send('GET /api/get-proc'))).toMatchObject(problemOf(405));
  });
});

describe('where parameters come from', () => {
  const gateway = useGateway(`
    create function read(_a text) returns text language sql immutable as $$ select 'read ' || _a $$;
    comment on function read(text) is 'HTTP';
    create function write(_a text) returns text language sql volatile as $$ select 'write ' || _a $$;
    comment on function write(text) is 'HTTP';
    create function remove(_a text) returns text language sql volatile as $$ select 'remove ' || _a $$;
    comment on function remove(text) is 'HTTP DELETE';
    create function put(_a text) returns text language sql immutable as $$ select 'put ' || _a $$;
    comment on function put(text) is 'HTTP PUT';
    create function patch(_a text) returns text language sql immutable as $$ select 'patch ' || _a $$;
    comment on function patch(text) is 'HTTP PATCH';
    create function get_write(_a text) returns text language sql volatile as $$ select 'post ' || _a $$;
    comment on function get_write(text) is 'HTTP POST';
    create function get_body(_a text) returns text language sql immutable as $$ select 'get body ' || _a $$;
    comment on function get_body(text) is E'HTTP GET\\nrequest_param_type body_json';
    create function post_query(_a text) returns text language sql volatile as $$ select 'post query ' || _a $$;
    comment on function post_query(text) is E'HTTP POST\\nparam_type = query';
    create function delete_body(_a text) returns text language sql volatile as $$ select 'delete body ' || _a $$;
    comment on function delete_body(text) is E'HTTP DELETE\\nparam_type body';
    create function post_query_string(_a text) returns text language sql volatile as $$ select 'query_string ' || _a $$;
    comment on function post_query_string(text) is E'HTTP POST\\nrequest_param_type = query_string';
    create function source_first(_a text) returns text language sql volatile as $$ select 'first ' || _a $$;
    comment on function source_first(text) is E'param_type query\\nHTTP POST';
  `);

  test.each([
    ['GET /api/read?a=1', 'read 1'],
    ['DELETE /api/remove?a=1', 'remove 1'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test.each([
    ['POST /api/write', 'write 1'],
    ['PUT /api/put', 'put 1'],
    ['PATCH /api/patch', 'patch 1'],
    ['POST /api/get-write', 'post 1'],
    ['DELETE /api/delete-body', 'delete body 1'],
  ])('%s {"a":"1"}', async (line, body) => {
    expect(plain(await gateway.send(line, { body: { a: '1' } }))).toEqual(text(body));
  });

  test('a body endpoint does not read the query', async () => {
    const answer = problem(await gateway.send('POST /api/write?a=1', { body: {} }));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toContain('"a"');
  });

  test('a query endpoint does not read the body', async () => {
    const { status, body } = await sendRaw(gateway.url, {
      method: 'DELETE',
      path: '/api/remove',
      headers: { 'content-type': 'application/json' },
      body: '{"a":"1"}',
    });
    expect({ status, ...(JSON.parse(body.toString()) as object) }).toMatchObject({ status: 400 });
  });

  test('GET with body_json reads the body', async () => {
    const { status, body } = await sendRaw(gateway.url, {
      path: '/api/get-body',
      headers: { 'content-type': 'application/json' },
      body: '{"a":"1"}',
    });
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: 'get body 1' });
  });

  test.each(['/api/post-query?a=1', '/api/post-query-string?a=1', '/api/source-first?a=1'])(
    'POST %s reads the query and ignores the body, whatever it is',
    async (path) => {
      const answer = await gateway.send(`POST ${path}`, {
        body: '{"a": 2, "b',
        headers: { 'content-type': 'text/plain' },
      });
      expect(plain(answer)).toMatchObject({ status: 200, body: expect.stringMatching(/ 1$/) });
    },
  );
});

describe('bodies', () => {
  const gateway = useGateway(`
    create function given(_a text default 'default') returns text language sql volatile as $$ select _a $$;
    comment on function given(text) is 'HTTP';
  `);

  test.each([
    ['no body', {}],
    ['a blank body', { body: ' \r\n\t ', headers: { 'content-type': 'application/json' } }],
    ['an empty body', { body: '', headers: { 'content-type': 'application/json' } }],
    ['an empty object', { body: {} }],
    ['an empty object with blanks', { body: ' { } ', headers: { 'content-type': 'application/json' } }],
  ])('%s is the empty object', async (_, options) => {
    expect(plain(await gateway.send('POST /api/given', options))).toEqual(text('default'));
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.api+json',
    'application/problem+json; x=y',
    'text/plain',
    'Text/Plain;charset=UTF-8',
    ' ',
  ])('content type %s', async (type) => {
    const answer = await gateway.send('POST /api/given', { body: '{"a":"1"}', headers: { 'content-type': type } });
    expect(plain(answer)).toEqual(text('1'));
  });

  test('no content type at all', async () => {
    const { status, body } = await sendRaw(gateway.url, { method: 'POST', path: '/api/given', body: '{"a":"1"}' });
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: '1' });
  });

  test.each([
    'text/json',
    'text/plainx',
    'text/html',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json-seq',
    'json',
  ])('content type %s is 415', async (type) => {
    const answer = await gateway.send('POST /api/given', { body: '{"a":"1"}', headers: { 'content-type': type } });
    expect(problem(answer)).toMatchObject(problemOf(415));
  });

  test('an empty form is a form: 415', async () => {
    const { status } = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/given',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    });
    expect(status).toBe(415);
  });

  test('a compressed body is refused', async () => {
    const answer = await gateway.send('POST /api/given', {
      body: '{"a":"1"}',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(problem(answer)).toMatchObject(problemOf(415));
  });
});

describe('options', () => {
  const sql = `
    create function reading(_a text) returns text language sql immutable as $$ select _a $$;
    comment on function reading(text) is 'HTTP';
    create function annotated(_a text) returns text language sql immutable as $$ select _a $$;
    comment on function annotated(text) is 'HTTP GET';
  `;

  test('defaultHttpMethod forces the method; an annotation overrides it', async () => {
    const gateway = await startGateway(sql, { defaultHttpMethod: 'PUT' });
    try {
      expect(plain(await gateway.send('PUT /api/reading', { body: { a: '1' } }))).toEqual(text('1'));
      expect(plain(await gateway.send('GET /api/annotated?a=1'))).toEqual(text('1'));
    } finally {
      await gateway.close();
    }
  });

  test('defaultRequestParamType forces the source; a verb of an annotation derives it anew', async () => {
    const gateway = await startGateway(sql, { defaultHttpMethod: 'POST', defaultRequestParamType: 'queryString' });
    try {
      expect(plain(await gateway.send('POST /api/reading?a=1'))).toEqual(text('1'));
      expect(plain(await gateway.send('GET /api/annotated?a=1'))).toEqual(text('1'));
    } finally {
      await gateway.close();
    }
  });
});
