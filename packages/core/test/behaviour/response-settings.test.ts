import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';

const gateway = useGateway(`
  create function reply(_status text default '', _headers text default '', _body text default 'done') returns text
  language sql as $$
    select set_config('response.status', _status, true), set_config('response.headers', _headers, true);
    select _body
  $$;
  comment on function reply is 'HTTP POST
  Cache-Control: no-store
  response_settings';

  create function rows(_status text) returns setof int language plpgsql as $$
  begin
    perform set_config('response.status', _status, true);
    return query select generate_series(1, 3);
  end $$;
  comment on function rows is 'HTTP POST
  response_settings';

  create table made (id int);
  create procedure make(_id int, inout _ids int[] default null) language plpgsql as $$
  begin
    insert into made values (_id);
    _ids := array[_id];
    perform set_config('response.status', '201', true);
    perform set_config('response.headers', json_build_array(json_build_object('Location', '/made/' || _id))::text, true);
  end $$;
  comment on procedure make is 'HTTP POST
  response_settings on';

  create function leave() returns void language sql as $$ select set_config('response.status', '418', false) $$;
  comment on function leave is 'HTTP POST
  response_settings';
  create function quiet() returns text language sql as $$ select 'quiet' $$;
  comment on function quiet is 'HTTP POST
  response_settings';
  create function nothing() returns void language sql as $$ select set_config('response.status', '202', true) $$;
  comment on function nothing is 'HTTP POST
  response_settings';
  create function without() returns text language sql as $$ select set_config('response.status', '201', true) $$;
  comment on function without is 'HTTP POST';
`);

/** Headers of every response that this file does not test. */
const others = ['connection', 'content-length', 'date', 'keep-alive', 'x-content-type-options'];

async function post(path: string, body: object = {}) {
  const response = await gateway.send(`POST /api/${path}`, { body });
  const headers = [...response.headers].filter(([name]) => !others.includes(name));
  return { status: response.status, headers: headers.map(([name, value]) => `${name}: ${value}`), body: response.body };
}

const text = 'content-type: text/plain; charset=utf-8';
const noStore = 'cache-control: no-store';

test('a routine sets the status and headers, which replace those of the comment', async () => {
  const headers = '[{"Location": "/books/1"}, {"Cache-Control": "no-cache"}, {"X-A": "1", "X-B": "2"}]';
  expect(await post('reply', { status: '201', headers })).toEqual({
    status: 201,
    headers: ['cache-control: no-cache', text, 'location: /books/1', 'x-a: 1', 'x-b: 2'],
    body: 'done',
  });
});

test('several cookies are several headers', async () => {
  const response = await gateway.send('POST /api/reply', {
    body: { headers: '[{"Set-Cookie": "a=1"}, {"Set-Cookie": "b=2"}]' },
  });
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
});

test('a content type replaces that of the result', async () => {
  expect(await post('reply', { headers: '[{"Content-Type": "text/html"}]', body: '<p>' })).toEqual({
    status: 200,
    headers: [noStore, 'content-type: text/html'],
    body: '<p>',
  });
});

test.each(['204', '205', '304'])('status %s has no content', async (status) => {
  const { headers, body } = await post('reply', { status });
  expect([headers, body]).toEqual([[noStore], '']);
});

test('an error status keeps the effects of the call', async () => {
  expect(await post('rows', { status: '409' })).toEqual({
    status: 409,
    headers: ['content-type: application/json', 'vary: accept'],
    body: '[1,2,3]',
  });
});

test('a procedure whose output is converted by a second statement', async () => {
  expect(await post('make', { id: 7 })).toEqual({
    status: 201,
    headers: ['content-type: application/json', 'location: /made/7'],
    body: '{"ids":[7]}',
  });
});

test('a setting that an earlier call has left in the session has no effect', async () => {
  expect((await post('leave')).status).toBe(418);
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await post('quiet')).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('a routine without a result', async () => {
  expect(await post('nothing')).toEqual({ status: 202, headers: [], body: '' });
});

test('without response_settings, the settings have no effect', async () => {
  expect(await post('without')).toMatchObject({ status: 200, body: '201' });
});

describe('a setting that cannot be sent', () => {
  const list = 'response.headers is not a JSON array of objects, such as [{"Location": "/books/1"}].';
  const range = 'response.status is not a number from 200 to 599.';
  test.each([
    [{ status: '99' }, range],
    [{ status: '101' }, range],
    [{ status: 'created' }, range],
    [{ status: '2000' }, range],
    [{ headers: '{"A": "b"}' }, list],
    [{ headers: '[["A", "b"]]' }, list],
    [{ headers: 'A: b' }, list],
    [{ headers: '[{"A": 1}]' }, 'response.headers: the value of "A" is not a string.'],
    [{ headers: '[{"Content-Length": "1"}]' }, 'response.headers: the server sets "Content-Length" itself.'],
    [
      { headers: '[{"Transfer-Encoding": "chunked"}]' },
      'response.headers: the server sets "Transfer-Encoding" itself.',
    ],
  ])('%j', async (body, detail) => {
    const { status, headers, body: problem } = await post('reply', body);
    expect([status, headers.includes('content-type: application/problem+json'), JSON.parse(problem)]).toEqual([
      500,
      true,
      expect.objectContaining({
        type: 'urn:pgway:problem:invalid-response-setting',
        title: 'The endpoint set a response that cannot be sent',
        status: 500,
        detail,
      }),
    ]);
  });

  test.each(['a\r\nset-cookie: x=1', 'a\nb', 'ł', '\u0001'])('a header with %j', async (value) => {
    const { status, body } = await post('reply', { headers: JSON.stringify([{ 'X-A': value }]) });
    expect([status, JSON.parse(body)]).toEqual([
      500,
      expect.objectContaining({ type: 'urn:pgway:problem:invalid-response-header' }),
    ]);
  });
});

describe('responseSettings: true', () => {
  const all = useGateway(
    `
    create function created() returns text language sql as $$ select set_config('response.status', '201', true) $$;
    comment on function created is 'HTTP POST';
    create function never() returns text language sql as $$ select set_config('response.status', '201', true) $$;
    comment on function never is 'HTTP POST
    response_settings off';
    create function kept() returns text language sql stable as $$ select '1' $$;
    comment on function kept is 'HTTP GET
    cached';
    `,
    { responseSettings: true },
  );

  test('applies to all endpoints, unless the comment switches it off or they are cached', async () => {
    const statuses = await Promise.all(
      ['POST /api/created', 'POST /api/never', 'GET /api/kept'].map(async (line) => (await all.send(line)).status),
    );
    expect(statuses).toEqual([201, 200, 200]);
  });
});
