import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';

/** `body_parameter_name`: one parameter takes the body as it is, the others come from the query string. */

const gateway = useGateway(`
  create function keep(_id int, _body text default 'none', _note text default '-') returns text language sql volatile
  as $$ select _id || '|' || _body || '|' || _note $$;
  comment on function keep is 'HTTP POST
  body_parameter_name _body';

  create function document(_doc jsonb) returns jsonb language sql volatile as $$ select _doc $$;
  comment on function document is 'HTTP PUT
  body_parameter_name = doc';
`);

async function post(path: string, body: string, type = 'text/plain') {
  const answer = await gateway.send(`POST ${path}`, { body, headers: { 'content-type': type } });
  return { status: answer.status, body: answer.body };
}

test('the raw body, whatever it is', async () => {
  expect(await post('/api/keep?id=1&note=x', 'a=b&c {"not": json}\n')).toEqual({
    status: 200,
    body: '1|a=b&c {"not": json}\n|x',
  });
  expect((await post('/api/keep?id=1', 'ä€😀', 'application/octet-stream')).body).toBe('1|ä€😀|-');
});

test('no body leaves the default', async () => {
  expect((await gateway.send('POST /api/keep?id=1')).body).toBe('1|none|-');
});

test('a json parameter takes a body of any content type, and PostgreSQL parses it', async () => {
  const put = (body: string) => gateway.send('PUT /api/document', { body, headers: { 'content-type': 'text/plain' } });
  expect((await put('{"a": [1, 2]}')).body).toBe('{"a": [1, 2]}');
  const refused = await put('{"a":');
  expect([refused.status, (JSON.parse(refused.body) as { parameters: unknown }).parameters]).toEqual([400, ['doc']]);
});

test('without a body a parameter that has no default is missing', async () => {
  const { status, body } = await gateway.send('PUT /api/document');
  expect({ status, body: JSON.parse(body) as unknown }).toMatchObject({
    status: 400,
    body: { detail: 'Missing: a body, which is the parameter "doc" (jsonb).', missing: ['doc'] },
  });
});

test('it may not come from the query string too', async () => {
  const { status, body } = await post('/api/keep?id=1&body=x', 'y');
  expect({ status, body: JSON.parse(body) as unknown }).toMatchObject({
    status: 400,
    body: { detail: '"body" is the whole body and may not come from the query string.', unknown: ['body'] },
  });
});

test('bytes that are no UTF-8 are 400', async () => {
  const answer = await fetch(`${gateway.url}/api/keep?id=1`, { method: 'POST', body: new Uint8Array([0xff, 0xfe]) });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    {
      type: 'urn:pgway:problem:malformed-body',
      title: 'The body cannot be read',
      status: 400,
      detail: 'The body is not valid UTF-8.',
    },
  ]);
});
