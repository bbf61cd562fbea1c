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

/** The same routine for each type: it tells what it was given. */
const typed = useGateway(
  Object.entries({
    int: 'int',
    big: 'numeric',
    uuid: 'uuid',
    date: 'date',
    ints: 'int[]',
    texts: 'text[]',
    bytes: 'bytea',
    flag: 'bool',
    span: 'int4range',
    pair: 'pair',
    mood: 'mood',
    small: 'small',
    xml: 'xml',
  })
    .map(
      ([name, type]) => `
        create function of_${name}(_id int, _body ${type} default null) returns text language sql
        as $$ select concat_ws(' ', _id, pg_typeof(_body), _body) $$;
        comment on function of_${name} is 'HTTP
        body_parameter_name _body';`,
    )
    .reduce(
      (all, one) => all + one,
      `create type pair as (a int, b text); create type mood as enum ('glad', 'sad'); create domain small as int check (value < 10);
       create function spread(variadic _ids int[]) returns int language sql as $$ select cardinality(_ids) $$;
       comment on function spread is 'HTTP
       body_parameter_name _ids';`,
    ),
);

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

test.each([
  ['int', '42', '1 integer 42'],
  ['int', ' 42\n', '1 integer 42'],
  ['big', '12345678901234567890.10', '1 numeric 12345678901234567890.10'],
  ['uuid', '11111111-2222-3333-4444-555555555555', '1 uuid 11111111-2222-3333-4444-555555555555'],
  ['date', '2024-02-29', '1 date 2024-02-29'],
  ['ints', '{1,NULL,3}', '1 integer[] {1,NULL,3}'],
  ['texts', '{"a b",c}', '1 text[] {"a b",c}'],
  ['bytes', String.raw`\x00ff`, String.raw`1 bytea \x00ff`],
  ['bytes', 'abc', String.raw`1 bytea \x616263`],
  ['flag', 'true', '1 boolean t'],
  ['span', '[1,5)', '1 int4range [1,5)'],
  ['pair', '(7,"x y")', '1 pair (7,"x y")'],
  ['mood', 'sad', '1 mood sad'],
  ['small', '7', '1 small 7'],
  ['xml', '<a/>', '1 xml <a/>'],
])('a parameter of any type is read from the text of the body: %s %j', async (name, body, expected) => {
  const answer = await typed.send(`POST /api/of-${name}?id=1`, { body, headers: { 'content-type': 'text/plain' } });
  expect([answer.status, answer.body]).toEqual([200, expected]);
});

test('a variadic one too', async () => {
  const answer = await typed.send('POST /api/spread', { body: '{1,2,3}', headers: { 'content-type': 'text/plain' } });
  expect([answer.status, answer.body]).toEqual([200, '3']);
});

test.each([
  ['int', 'forty-two'],
  ['uuid', '1'],
  ['ints', '1,2'],
  ['bytes', String.raw`\xzz`],
  ['pair', '(1)'],
  ['small', '11'],
])('text that the type refuses is 400 and names the parameter: %s %j', async (name, body) => {
  const answer = await typed.send(`POST /api/of-${name}?id=1`, { body, headers: { 'content-type': 'text/plain' } });
  expect([answer.status, (JSON.parse(answer.body) as { parameters: unknown }).parameters]).toEqual([400, ['body']]);
});

test('an empty body was not sent, whatever the type', async () => {
  expect((await typed.send('POST /api/of-int?id=1')).body).toBe('1 integer');
});
