import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { sendRaw } from './support.ts';

/** A routine may be told of the request's headers: in a setting of the transaction, or in a parameter. */

const sql = `
  create function in_setting() returns text language sql stable as $$ select current_setting('request.headers', true) $$;
  comment on function in_setting is 'HTTP GET
  request_headers_mode = context';

  create function in_parameter(_a int, _headers json default '{"none": true}') returns json language sql stable as $$ select _headers $$;
  comment on function in_parameter is 'HTTP GET
  request_headers parameter
  request_headers_parameter_name = _headers';

  create function by_option(headers text default 'default') returns text language sql stable as $$ select headers $$;
  comment on function by_option is 'HTTP GET';

  create function ignored() returns text language sql stable as $$ select coalesce(nullif(current_setting('request.headers', true), ''), 'nothing') $$;
  comment on function ignored is 'HTTP GET
  request_headers ignore';
`;

describe('words in a comment', () => {
  const gateway = useGateway(sql);

  test('context: all headers as one compact JSON object, in order of arrival, names as sent', async () => {
    const { body } = await sendRaw(gateway.url, {
      path: '/api/in-setting',
      headers: { Host: 'example.test', 'X-Second': ['b', 'again'], 'x-FIRST': '"quoted"', Connection: 'close' },
    });
    expect(body.toString()).toBe(
      '{"Host":"example.test","X-Second":"b, again","x-FIRST":"\\"quoted\\"","Connection":"close"}',
    );
  });

  test('parameter: the same JSON, when the request does not give it', async () => {
    const { body } = await gateway.send('GET /api/in-parameter?a=1', { headers: { 'x-one': '1' } });
    expect(JSON.parse(body)).toMatchObject({ 'x-one': '1' });
    expect((await gateway.send('GET /api/in-parameter?a=1&headers={"own":1}')).body).toBe('{"own":1}');
  });

  test('ignore is the default of the other endpoints', async () => {
    expect((await gateway.send('GET /api/by-option')).body).toBe('default');
    expect((await gateway.send('GET /api/ignored')).body).toBe('nothing');
  });
});

describe('options', () => {
  const context = useGateway(sql, {
    requestHeadersMode: 'context',
    requestHeadersExclude: [
      'Cookie',
      'authorization',
      'host',
      'connection',
      'accept',
      'accept-language',
      'sec-fetch-mode',
      'user-agent',
      'accept-encoding',
    ],
    customRequestHeaders: { 'X-Stage': 'test', 'X-List': ['a', 'b'] },
  });
  const parameter = useGateway(sql, { requestHeadersMode: 'parameter' });

  test('customRequestHeaders come last; requestHeadersExclude removes names', async () => {
    const { body } = await context.send('GET /api/in-setting', {
      headers: { cookie: 'secret=1', authorization: 'Bearer x', 'x-own': '1' },
    });
    expect(body).toBe('{"x-own":"1","X-Stage":"test","X-List":"a, b"}');
  });

  test("customRequestHeaders replace the client's of the same name, in upper and lower case", async () => {
    const headers = { 'x-stage': 'production', 'X-LIST': 'c', 'x-own': '1' };
    const { body } = await context.send('GET /api/in-setting', { headers });
    expect(body).toBe('{"x-own":"1","X-Stage":"test","X-List":"a, b"}');
  });

  test('the word in a comment is nearer than the option', async () => {
    expect((await context.send('GET /api/ignored')).body).toBe('nothing');
  });

  test('mode parameter fills a parameter of the configured name that has a default', async () => {
    expect(JSON.parse((await parameter.send('GET /api/by-option', { headers: { 'x-a': 'b' } })).body)).toMatchObject({
      'x-a': 'b',
    });
    expect((await parameter.send('GET /api/ignored')).body).toBe('nothing');
  });
});
