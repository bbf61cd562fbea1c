import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, plain, problem, problemOf, sendRaw, text } from './support.ts';

const gateway = useGateway(`
  create function sum(_a int, _b int default 10) returns int language sql immutable as $$ select _a + _b $$;
  comment on function sum(int, int) is 'HTTP';
  create function of_int(_a int) returns text language sql immutable as $$ select coalesce(_a::text, 'null') $$;
  comment on function of_int(int) is 'HTTP';
  create function of_text(_a text) returns text language sql immutable as $$ select coalesce('<' || _a || '>', 'null') $$;
  comment on function of_text(text) is 'HTTP';
  create domain short_text as varchar(5);
  create function of_domain(_a short_text) returns text language sql immutable as $$ select coalesce('<' || _a || '>', 'null') $$;
  comment on function of_domain(short_text) is 'HTTP';
  create function of_date(_a date) returns text language sql immutable as $$ select coalesce(_a::text, 'null') $$;
  comment on function of_date(date) is 'HTTP';
  create function of_ints(_a int[]) returns int[] language sql immutable as $$ select _a $$;
  comment on function of_ints(int[]) is 'HTTP';
  create function of_texts(_a text[]) returns text[] language sql immutable as $$ select _a $$;
  comment on function of_texts(text[]) is 'HTTP';
  create function of_json(_a json) returns json language sql immutable as $$ select _a $$;
  comment on function of_json(json) is 'HTTP';
  create function of_jsonbs(_a jsonb[]) returns jsonb[] language sql immutable as $$ select _a $$;
  comment on function of_jsonbs(jsonb[]) is 'HTTP';
  create function null_literal(_a text, _b int default 1, _c text[] default '{}') returns text language sql immutable
    as $$ select concat_ws('|', coalesce(_a, 'NOTHING'), coalesce(_b::text, 'NOTHING'), to_json(_c)) $$;
  comment on function null_literal(text, int, text[]) is E'HTTP\\nquery_string_null_handling null_literal';
  create function empty_string(_a text, _b text[] default '{}') returns text language sql immutable
    as $$ select concat_ws('|', coalesce(_a, 'NOTHING'), to_json(_b)) $$;
  comment on function empty_string(text, text[]) is E'HTTP\\nquery_null = empty';
  create function strict_one(_a int) returns text language sql immutable strict as $$ select 'called' $$;
  comment on function strict_one(int) is 'HTTP';
`);

describe('keys', () => {
  test.each([
    ['GET /api/sum?a=1&b=2', '3'],
    ['GET /api/sum?b=2&a=1', '3'],
    ['GET /api/sum?a=1', '11'],
    ['GET /api/sum?a=%31', '1'.concat('1')],
    ['GET /api/sum?%61=1&', '11'],
    ['GET /api/sum?&&a=1', '11'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test.each([
    ['GET /api/sum', ['"a"']],
    ['GET /api/sum?b=1', ['"a"']],
    ['GET /api/sum?a=1&c=2&d=3', ['"c"', '"d"']],
    ['GET /api/sum?c=2', ['"c"', '"a"']],
    ['GET /api/sum?A=1', ['"A"', '"a"']],
    ['GET /api/sum?a=1&__proto__=2', ['"__proto__"']],
    ['GET /api/sum?a=1&constructor=2', ['"constructor"']],
    ['GET /api/sum?a=1&=2', ['""']],
    ['GET /api/sum?a=1&a[]=2', ['"a[]"']],
  ])('%s names each culprit', async (line, names) => {
    const answer = problem(await gateway.send(line));
    expect(answer).toMatchObject(problemOf(400));
    for (const name of names) expect(answer.problem['detail']).toContain(name);
  });

  test('a repeated key of a scalar', async () => {
    const answer = problem(await gateway.send('GET /api/sum?a=1&a=2'));
    expect(answer).toMatchObject(problemOf(400));
    expect(answer.problem['detail']).toContain('"a"');
  });

  test.each([
    '/api/of-text?a=%',
    '/api/of-text?a=%zz',
    '/api/of-text?a=%ff',
    '/api/of-text?%c3=1',
    '/api/of-text?a=%ED%A0%80',
  ])('%s is not percent-encoded UTF-8', async (path) => {
    const { status, headers } = await sendRaw(gateway.url, { path });
    expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
  });

  test('unknownParameters: ignore', async () => {
    const lenient = await startGateway(
      `create function one(_a int) returns int language sql immutable as $$ select _a $$;
       comment on function one(int) is 'HTTP';`,
      { unknownParameters: 'ignore' },
    );
    try {
      expect(plain(await lenient.send('GET /api/one?a=1&utm_source=x'))).toEqual(text('1'));
      expect(problem(await lenient.send('GET /api/one?utm_source=x'))).toMatchObject(problemOf(400));
    } finally {
      await lenient.close();
    }
  });
});

describe('values', () => {
  test.each([
    ['GET /api/of-text?a=a+b', '<a b>'],
    ['GET /api/of-text?a=a%2Bb%26c%3Dd', '<a+b&c=d>'],
    ['GET /api/of-text?a=a=b=c', '<a=b=c>'],
    ['GET /api/of-text?a=%C3%A9%F0%9F%8E%88', '<é🎈>'],
    ['GET /api/of-text?a=%27%3B+drop+table+x%3B--', "<'; drop table x;-->"],
    ['GET /api/of-text?a=%5Cx41%22', String.raw`<\x41">`],
    ['GET /api/of-text?a=', '<>'],
    ['GET /api/of-text?a', '<>'],
    ['GET /api/of-text?a=null', '<null>'],
    ['GET /api/of-text?a=NULL', '<NULL>'],
    ['GET /api/of-domain?a=', '<>'],
    ['GET /api/of-domain?a=abc', '<abc>'],
    ['GET /api/of-int?a=', 'null'],
    ['GET /api/of-int?a', 'null'],
    ['GET /api/of-int?a=-5', '-5'],
    ['GET /api/of-int?a=%207%20', '7'],
    ['GET /api/of-date?a=', 'null'],
    ['GET /api/of-date?a=2024-02-29', '2024-02-29'],
    ['GET /api/strict-one?a=1', 'called'],
    ['GET /api/strict-one?a=', ''],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test.each([
    ['GET /api/of-ints?a=1&a=2', '[1,2]'],
    ['GET /api/of-ints?a=999&a=&a=666', '[999,null,666]'],
    ['GET /api/of-ints?a=', '[null]'],
    ['GET /api/of-texts?a=x&a=&a=y', '["x","","y"]'],
    ['GET /api/of-texts?a=NULL&a=null', '["NULL","null"]'],
    ['GET /api/of-texts?a=a,b&a={c}&a="d"&a=e%5Cf', String.raw`["a,b","{c}","\"d\"","e\\f"]`],
    ['GET /api/of-texts?a=%20padded%20', '[" padded "]'],
    ['GET /api/of-json?a={"x":[1,%202]}', '{"x":[1, 2]}'],
    ['GET /api/of-json?a=null', 'null'],
    ['GET /api/of-json?a=', 'null'],
    ['GET /api/of-json?a="text"', '"text"'],
    ['GET /api/of-jsonbs?a={"x":1}&a=2&a=', '[{"x": 1},2,null]'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(json(body));
  });

  test.each([
    ['GET /api/of-int?a=one', '"a"', '22P02'],
    ['GET /api/of-int?a=99999999999', '"a"', '22003'],
    ['GET /api/of-int?a=1.5', '"a"', '22P02'],
    ['GET /api/of-date?a=2024-02-30', '"a"', '22008'],
    ['GET /api/of-json?a={', '"a"', '22P02'],
    ['GET /api/of-ints?a=1&a=x', '"a"', '22P02'],
    ['GET /api/of-text?a=%00', '"a"', '22021'],
    ['GET /api/of-domain?a=too+long', '"a"', '22001'],
    ['GET /api/sum?a=1&b=x', '"b"', '22P02'],
  ])('%s is refused by the type', async (line, named, code) => {
    const answer = problem(await gateway.send(line));
    expect(answer).toMatchObject(problemOf(400, { code }));
    expect(answer.problem['detail']).toContain(named);
  });
});

describe('null handling', () => {
  test.each([
    ['GET /api/null-literal?a=null&b=NULL&c=Null&c=x&c=', 'NOTHING|NOTHING|[null,"x",""]'],
    ['GET /api/null-literal?a=&b=', '|NOTHING|[]'],
    ['GET /api/null-literal?a=nullable', 'nullable|1|[]'],
    ['GET /api/empty-string?a=', 'NOTHING|[]'],
    ['GET /api/empty-string?a=null&b=&b=x', 'null|[null,"x"]'],
  ])('%s', async (line, body) => {
    expect(plain(await gateway.send(line))).toEqual(text(body));
  });

  test.each([
    ['ignore', '<>', '<null>'],
    ['emptyString', 'null', '<null>'],
    ['nullLiteral', '<>', 'null'],
  ] as const)('queryStringNullHandling %s', async (queryStringNullHandling, ofEmpty, ofNull) => {
    const own = await startGateway(
      `create function echo(_a text) returns text language sql immutable as $$ select coalesce('<' || _a || '>', 'null') $$;
       comment on function echo(text) is 'HTTP';`,
      { queryStringNullHandling },
    );
    try {
      expect(plain(await own.send('GET /api/echo?a='))).toEqual(text(ofEmpty));
      expect(plain(await own.send('GET /api/echo?a=null'))).toEqual(text(ofNull));
    } finally {
      await own.close();
    }
  });
});
