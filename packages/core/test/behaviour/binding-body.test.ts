import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, plain, problem, problemOf, sendRaw, text } from './support.ts';

const gateway = useGateway(`
  create function of_int(_a int) returns text language sql volatile as $$ select coalesce(_a::text, 'null') $$;
  comment on function of_int(int) is 'HTTP';
  create function of_numeric(_a numeric) returns text language sql volatile as $$ select _a::text $$;
  comment on function of_numeric(numeric) is 'HTTP';
  create function of_bigint(_a bigint) returns text language sql volatile as $$ select _a::text $$;
  comment on function of_bigint(bigint) is 'HTTP';
  create function of_bool(_a bool) returns text language sql volatile as $$ select coalesce(_a::text, 'null') $$;
  comment on function of_bool(bool) is 'HTTP';
  create function of_text(_a text) returns text language sql volatile as $$ select coalesce('<' || _a || '>', 'null') $$;
  comment on function of_text(text) is 'HTTP';
  create function of_bytes(_a text) returns int language sql volatile as $$ select octet_length(_a) $$;
  comment on function of_bytes(text) is 'HTTP';
  create function of_json(_a json) returns json language sql volatile as $$ select _a $$;
  comment on function of_json(json) is 'HTTP';
  create function of_jsonb(_a jsonb) returns jsonb language sql volatile as $$ select _a $$;
  comment on function of_jsonb(jsonb) is 'HTTP';
  create function of_jsons(_a json[]) returns json[] language sql volatile as $$ select _a $$;
  comment on function of_jsons(json[]) is 'HTTP';
  create function of_texts(_a text[]) returns text[] language sql volatile as $$ select _a $$;
  comment on function of_texts(text[]) is 'HTTP';
  create function of_numerics(_a numeric[]) returns numeric[] language sql volatile as $$ select _a $$;
  comment on function of_numerics(numeric[]) is 'HTTP';
  create function of_two(_first int, _second date default null) returns text language sql volatile as $$ select 'x' $$;
  comment on function of_two(int, date) is 'HTTP';
`);

const jsonType = { 'content-type': 'application/json' };

describe('values', () => {
  test.each([
    ['of-int', '{"a":42}', '42'],
    ['of-int', '{"a":"42"}', '42'],
    ['of-int', '{"a":null}', 'null'],
    ['of-int', ' \n{ "a" :\t42 }\r\n', '42'],
    ['of-int', '{"\\u0061":42}', '42'],
    ['of-bigint', '{"a":9223372036854775807}', '9223372036854775807'],
    ['of-bigint', '{"a":-9223372036854775808}', '-9223372036854775808'],
    [
      'of-numeric',
      '{"a":12345678901234567890.123456789012345678901234567890}',
      '12345678901234567890.123456789012345678901234567890',
    ],
    ['of-numeric', '{"a":1.10}', '1.10'],
    ['of-numeric', '{"a":1e2}', '100'],
    ['of-numeric', '{"a":-0.0}', '0.0'],
    ['of-bool', '{"a":true}', 'true'],
    ['of-bool', '{"a":false}', 'false'],
    ['of-bool', '{"a":"yes"}', 'true'],
    ['of-bool', '{"a":null}', 'null'],
    ['of-text', '{"a":""}', '<>'],
    ['of-text', '{"a":null}', 'null'],
    ['of-text', '{"a":"null"}', '<null>'],
    ['of-text', '{"a":"NULL"}', '<NULL>'],
    ['of-text', '{"a":"\\u00e9\\ud83c\\udf88\\n\\t\\"\\\\\\/"}', '<é🎈\n\t"\\/>'],
    ['of-text', '{"a":"é🎈"}', '<é🎈>'],
    ['of-text', '{"a":42}', '<42>'],
    ['of-text', '{"a":1.50}', '<1.50>'],
    ['of-text', '{"a":true}', '<true>'],
    ['of-text', '{"a":"\'; drop table x; --"}', "<'; drop table x; -->"],
    ['of-text', '{"a":"$1"}', '<$1>'],
  ])('%s %s', async (path, body, expected) => {
    expect(plain(await gateway.send(`POST /api/${path}`, { body, headers: jsonType }))).toEqual(text(expected));
  });

  test.each([
    ['of-json', '{"a":{"x" : [1,  2], "y":"\\u00e9"}}', '{"x" : [1,  2], "y":"\\u00e9"}'],
    ['of-json', '{"a":[1, {"b":null}]}', '[1, {"b":null}]'],
    ['of-json', '{"a":1.00000000000000000000001}', '1.00000000000000000000001'],
    ['of-json', '{"a":true}', 'true'],
    ['of-json', '{"a":null}', 'null'],
    ['of-json', '{"a":"{\\"x\\":1}"}', '{"x":1}'],
    ['of-jsonb', '{"a":{"b":12345678901234567890}}', '{"b": 12345678901234567890}'],
    ['of-jsons', '{"a":[{"x":"a\\"b\\\\c"},[1,2],3,"4",null]}', '[{"x":"a\\"b\\\\c"},[1,2],3,4,null]'],
    ['of-jsons', '{"a":[]}', '[]'],
    [
      'of-texts',
      '{"a":["a","",null,"null","NULL","{}","a,b","\\"","\\\\","\\n"]}',
      '["a","",null,"null","NULL","{}","a,b","\\"","\\\\","\\n"]',
    ],
    ['of-texts', '{"a":[["a","b"],["c",null]]}', '[["a","b"],["c",null]]'],
    ['of-texts', '{"a":[1.50,true]}', '["1.50","true"]'],
    ['of-texts', '{"a":"{x,y}"}', '["x","y"]'],
    ['of-texts', '{"a":null}', 'null'],
    ['of-numerics', '{"a":[1.10,"2.20",null,12345678901234567890]}', '[1.10,2.20,null,12345678901234567890]'],
  ])('%s %s', async (path, body, expected) => {
    expect(plain(await gateway.send(`POST /api/${path}`, { body, headers: jsonType }))).toEqual(json(expected));
  });

  test('a long text arrives whole', async () => {
    const answer = await gateway.send('POST /api/of-bytes', { body: { a: 'é'.repeat(400_000) } });
    expect(plain(answer)).toEqual(text('800000'));
  });

  test('a byte order mark is no part of the text', async () => {
    expect(plain(await gateway.send('POST /api/of-int', { body: '\ufeff{"a":1}', headers: jsonType }))).toEqual(
      text('1'),
    );
  });
});

describe('nesting of arrays', () => {
  const nested = (depth: number, inner = '1'): string => '['.repeat(depth) + inner + ']'.repeat(depth);

  test('as many dimensions as an array of PostgreSQL can have', async () => {
    const answer = await gateway.send('POST /api/of-numerics', { body: `{"a":${nested(6)}}`, headers: jsonType });
    expect(plain(answer)).toEqual(json('[[[[[[1]]]]]]'));
  });

  test.each([
    ['one more', nested(7)],
    ['as deep as JSON may be, with space between', nested(60).replaceAll('[', '[ \n')],
    ['not in its first element', `[[],${nested(7)}]`],
    ['in the last of many elements', `[${'[[1]],'.repeat(1000)}${nested(6)}]`],
  ])('%s: 400, and PostgreSQL is not asked', async (_, value) => {
    const answer = problem(await gateway.send('POST /api/of-numerics', { body: `{"a":${value}}`, headers: jsonType }));
    expect(answer).toEqual(
      problemOf(400, {
        type: 'urn:pgway:problem:invalid-parameter',
        detail:
          'The parameter "a" takes numeric[]; its value is nested deeper than the 6 dimensions that an array of PostgreSQL can have.',
        parameters: ['a'],
      }),
    );
  });

  test('elements that are json are nested as they like', async () => {
    const answer = await gateway.send('POST /api/of-jsons', { body: `{"a":[${nested(50)}]}`, headers: jsonType });
    expect(plain(answer)).toEqual(json(`[${nested(50)}]`));
  });
});

describe('refusals name the culprit', () => {
  test.each([
    ['of-two', '{}', ['"first"'], undefined],
    ['of-two', '{"second":null}', ['"first"'], undefined],
    ['of-two', '{"first":1,"third":2,"fourth":3}', ['"third"', '"fourth"'], undefined],
    ['of-two', '{"third":2}', ['"third"', '"first"'], undefined],
    ['of-two', '{"First":1}', ['"First"', '"first"'], undefined],
    ['of-two', '{"first":"x"}', ['"first"'], '22P02'],
    ['of-two', '{"first":1,"second":"2024-13-01"}', ['"second"'], '22008'],
    ['of-int', '{"a":1.5}', ['"a"'], '22P02'],
    ['of-int', '{"a":1e1}', ['"a"'], '22P02'],
    ['of-int', '{"a":true}', ['"a"'], '22P02'],
    ['of-int', '{"a":""}', ['"a"'], '22P02'],
    ['of-int', '{"a":9999999999}', ['"a"'], '22003'],
    ['of-text', '{"a":"\\u0000"}', ['"a"'], '22021'],
    ['of-int', '{"a":[1]}', ['"a"'], undefined],
    ['of-int', '{"a":{}}', ['"a"'], undefined],
    ['of-text', '{"a":{"b":1}}', ['"a"'], undefined],
    ['of-text', '{"a":"\\ud800"}', ['"a"'], undefined],
    ['of-texts', '{"a":["\\udc00"]}', ['"a"'], undefined],
    ['of-texts', '{"a":[["a"],"b"]}', ['"a"'], undefined],
    ['of-texts', '{"a":[["a"],["b","c"]]}', ['"a"'], undefined],
    ['of-texts', '{"a":{"b":1}}', ['"a"'], undefined],
  ])('%s %s', async (path, body, names, code) => {
    const answer = problem(await gateway.send(`POST /api/${path}`, { body, headers: jsonType }));
    expect(answer).toMatchObject(problemOf(400, code === undefined ? {} : { code }));
    for (const name of names) expect(answer.problem['detail']).toContain(name);
  });
});

describe('bodies that are not what they should be', () => {
  test.each([
    ['{', 1],
    ['{"a":1', 6],
    ['{"a":1,}', 7],
    ["{'a':1}", 1],
    ['{"a":01}', 6],
    ['{"a":+1}', 5],
    ['{"a":.5}', 5],
    ['{"a":NaN}', 5],
    ['{"a":1}x', 7],
    ['{"a":1}{"a":1}', 7],
    ['{"a":tru}', 5],
    ['{"a" 1}', 5],
    ['{"a":"\t"}', 5],
    ['{"a":"\\x"}', 5],
    ['nope', 0],
    ['{a:1}', 1],
    ['{"a":1 /* x */}', 7],
  ])('%s is malformed, at position %i', async (body, position) => {
    const answer = problem(await gateway.send('POST /api/of-int', { body, headers: jsonType }));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toMatch(new RegExp(String.raw`\b${position}\b`));
  });

  test.each(['[]', '[1]', '"a"', '1', 'null', 'true'])('%s is no object', async (body) => {
    expect(problem(await gateway.send('POST /api/of-int', { body, headers: jsonType }))).toMatchObject(problemOf(400));
  });

  test.each([
    ['{"a":1,"a":2}', 'of-int', '"a"'],
    ['{"a":1,"\\u0061":2}', 'of-int', '"a"'],
    ['{"a":{"x":1,"x":2}}', 'of-json', '"x"'],
    ['{"a":[{"x":1,"x":2}]}', 'of-jsons', '"x"'],
    ['{"__proto__":{}}', 'of-int', '__proto__'],
    ['{"a":{"__proto__":{}}}', 'of-json', '__proto__'],
    ['{"a":{"\\u005f_proto__":{}}}', 'of-json', '__proto__'],
  ])('%s: duplicate keys and __proto__', async (body, path, named) => {
    const answer = problem(await gateway.send(`POST /api/${path}`, { body, headers: jsonType }));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toContain(named);
  });

  test('bytes that are no UTF-8', async () => {
    const body = Buffer.from('{"a":"\xff"}', 'latin1');
    const { status, headers } = await sendRaw(gateway.url, {
      method: 'POST',
      path: '/api/of-text',
      headers: jsonType,
      body,
    });
    expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  });

  test('nesting without end', async () => {
    const body = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(problem(await gateway.send('POST /api/of-json', { body, headers: jsonType }))).toMatchObject(problemOf(400));
  });
});
