import { createGateway } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { json, noContent, plain, sendRaw, text } from './support.ts';

const gateway = useGateway(`
  create function hello(_name text) returns text language sql immutable as $$ select 'hello ' || _name $$;
  comment on function hello is 'HTTP';

  create type mood as enum ('sad', 'very happy');
  create domain positive as int check (value > 0);
  create domain document as jsonb;
  create domain codes as int[];
  create type pair as (first_name text, second int);
  create table book (book_id int, title text);
  insert into book values (1, 'One');

  create function of_text() returns text language sql immutable as $$ select E'"é"\\n\\t\\\\' $$;
  create function of_empty() returns text language sql immutable as $$ select '' $$;
  create function of_int() returns int language sql immutable as $$ select 42 $$;
  create function of_numeric() returns numeric language sql immutable as $$ select 1.50 $$;
  create function of_float() returns float8 language sql immutable as $$ select 'NaN'::float8 $$;
  create function of_true() returns bool language sql immutable as $$ select true $$;
  create function of_false() returns bool language sql immutable as $$ select false $$;
  create function of_timestamp() returns timestamp language sql immutable as $$ select '2024-01-12 11:06:59.334476'::timestamp $$;
  create function of_timestamptz() returns timestamptz language sql immutable as $$ select '2024-01-12 11:06:59.334476+00'::timestamptz $$;
  create function of_date() returns date language sql immutable as $$ select '0044-03-15 BC'::date $$;
  create function of_uuid() returns uuid language sql immutable as $$ select 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid $$;
  create function of_enum() returns mood language sql immutable as $$ select 'very happy'::mood $$;
  create function of_domain() returns positive language sql immutable as $$ select 7::positive $$;
  create function of_range() returns int4range language sql immutable as $$ select '[1,5]'::int4range $$;
  create function of_interval() returns interval language sql immutable as $$ select '1 day 02:03:04'::interval $$;
  create function of_xml() returns "char" language sql immutable as $$ select 'c'::"char" $$;
  create function of_name() returns name language sql immutable as $$ select 'n'::name $$;

  create function of_json() returns json language sql immutable as $$ select '  {"b" : 1,  "a":[ 1.0 ], "b":"\\u00e9"}'::json $$;
  create function of_jsonb() returns jsonb language sql immutable as $$ select '{"b":1,"a":[1.0]}'::jsonb $$;
  create function of_document() returns document language sql immutable as $$ select '{"b":1}'::document $$;
  create function of_json_text() returns json language sql immutable as $$ select '"text"'::json $$;
  create function of_ints() returns int[] language sql immutable as $$ select '{1,NULL,3}'::int[] $$;
  create function of_none() returns text[] language sql immutable as $$ select '{}'::text[] $$;
  create function of_nested() returns text[] language sql immutable as $$ select '{{a,b},{"c,d",NULL}}'::text[] $$;
  create function of_bounds() returns int[] language sql immutable as $$ select '[5:6]={1,2}'::int[] $$;
  create function of_codes() returns codes language sql immutable as $$ select '{1,2}'::codes $$;
  create function of_times() returns timestamptz[] language sql immutable as $$ select '{2024-01-12 11:06:59+00,NULL,infinity}'::timestamptz[] $$;
  create function of_pairs() returns pair[] language sql immutable as $$ select array[row('a "b"', 1)::pair, null, row(null, null)::pair] $$;
  create function of_moods() returns mood[] language sql immutable as $$ select '{sad,"very happy"}'::mood[] $$;

  create function of_bytea() returns bytea language sql immutable as $$ select '\\x00ff0a5c22'::bytea $$;
  create function of_no_bytes() returns bytea language sql immutable as $$ select ''::bytea $$;

  create function nothing() returns void language sql immutable as $$ select $$;
  create function one_out(out _result_text text) language sql immutable as $$ select 'out' $$;
  create procedure silent(_a int) language sql as $$ select 1 $$;
  create procedure answering(_a int, inout _in_out int, inout _just_out text, inout _flag bool, inout _when timestamptz, inout _doc json) language plpgsql as $$
    begin _in_out := _in_out + _a; _just_out := 'x"y'; _flag := true; _when := '2024-01-12 11:06:59+00'; _doc := '{"k_k": 1}'; end $$;
  create procedure one_answer(inout _single int) language plpgsql as $$ begin _single := _single + 1; end $$;

  do $$ declare routine regprocedure; begin
    for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f' and proname <> 'hello' loop
      execute format('comment on function %s is %L', routine, 'HTTP GET');
    end loop;
  end $$;
  comment on procedure silent is 'HTTP';
  comment on procedure answering is 'HTTP';
  comment on procedure one_answer is 'HTTP';
`);

test('a text result is the plain text of it', async () => {
  const { status, type, body } = await gateway.send('GET /api/hello?name=world');
  expect({ status, type, body }).toEqual({ status: 200, type: 'text/plain; charset=utf-8', body: 'hello world' });
});

test.each([
  ['/api/of-text', '"é"\n\t\\'],
  ['/api/of-empty', ''],
  ['/api/of-int', '42'],
  ['/api/of-numeric', '1.50'],
  ['/api/of-float', 'NaN'],
  ['/api/of-true', 'true'],
  ['/api/of-false', 'false'],
  ['/api/of-timestamp', '2024-01-12 11:06:59.334476'],
  ['/api/of-timestamptz', '2024-01-12 11:06:59.334476+00'],
  ['/api/of-date', '0044-03-15 BC'],
  ['/api/of-uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ['/api/of-enum', 'very happy'],
  ['/api/of-domain', '7'],
  ['/api/of-range', '[1,6)'],
  ['/api/of-interval', '1 day 02:03:04'],
  ['/api/of-xml', 'c'],
  ['/api/of-name', 'n'],
  ['/api/one-out', 'out'],
])("GET %s: PostgreSQL's text", async (path, body) => {
  const answer = await gateway.send(`GET ${path}`);
  expect(plain(answer)).toEqual(text(body));
  expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
});

test.each([
  ['/api/of-json', '  {"b" : 1,  "a":[ 1.0 ], "b":"\\u00e9"}'],
  ['/api/of-jsonb', '{"a": [1.0], "b": 1}'],
  ['/api/of-document', '{"b": 1}'],
  ['/api/of-json-text', '"text"'],
  ['/api/of-ints', '[1,null,3]'],
  ['/api/of-none', '[]'],
  ['/api/of-nested', '[["a","b"],["c,d",null]]'],
  ['/api/of-bounds', '[1,2]'],
  ['/api/of-codes', '[1,2]'],
  ['/api/of-times', '["2024-01-12T11:06:59+00:00",null,"infinity"]'],
  ['/api/of-pairs', '[{"firstName":"a \\"b\\"","second":1},null,{"firstName":null,"second":null}]'],
  ['/api/of-moods', '["sad","very happy"]'],
])('GET %s: JSON', async (path, body) => {
  expect(plain(await gateway.send(`GET ${path}`))).toEqual(json(body));
});

test.each([
  ['/api/of-bytea', [0x00, 0xff, 0x0a, 0x5c, 0x22]],
  ['/api/of-no-bytes', []],
])('GET %s: raw bytes', async (path, bytes) => {
  const { status, headers, body } = await sendRaw(gateway.url, { path });
  expect({ status, type: headers['content-type'], body: [...body] }).toEqual({
    status: 200,
    type: 'application/octet-stream',
    body: bytes,
  });
});

test('void functions and procedures without outputs have no content', async () => {
  expect(plain(await gateway.send('GET /api/nothing'))).toEqual(noContent);
  expect(plain(await gateway.send('POST /api/silent', { body: { a: 1 } }))).toEqual(noContent);
});

test('a procedure with outputs gives one object', async () => {
  const body = { a: 1, inOut: 2, justOut: null, flag: null, when: null, doc: null };
  expect(plain(await gateway.send('POST /api/answering', { body }))).toEqual(
    json('{"inOut":3,"justOut":"x\\"y","flag":true,"when":"2024-01-12T11:06:59+00:00","doc":{"k_k": 1}}'),
  );
  expect(plain(await gateway.send('POST /api/one-answer', { body: { single: 1 } }))).toEqual(json('{"single":2}'));
});

describe('NULL', () => {
  const sql = `
    create type pair as (a int, b int);
    create function null_text() returns text language sql immutable as $$ select null::text $$;
    create function null_int() returns int language sql immutable as $$ select null::int $$;
    create function null_bool() returns bool language sql immutable as $$ select null::bool $$;
    create function null_bytea() returns bytea language sql immutable as $$ select null::bytea $$;
    create function null_json() returns json language sql immutable as $$ select null::json $$;
    create function json_null() returns json language sql immutable as $$ select 'null'::json $$;
    create function null_jsonb() returns jsonb language sql immutable as $$ select null::jsonb $$;
    create function null_ints() returns int[] language sql immutable as $$ select null::int[] $$;
    create function empty_text() returns text language sql immutable as $$ select '' $$;
    create function empty_bytea() returns bytea language sql immutable as $$ select ''::bytea $$;
    create function strict_one(_a int) returns text language sql immutable strict as $$ select 'called' $$;
    create function no_row() returns text language sql stable as $$ select relname::text from pg_class where false $$;
    create function by_comment() returns text language sql immutable as $$ select null::text $$;
    create function by_comment_204() returns text language sql immutable as $$ select null::text $$;
    do $$ declare routine regprocedure; begin
      for routine in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace loop
        execute format('comment on function %s is %L', routine, 'HTTP GET');
      end loop;
    end $$;
    comment on function by_comment is E'HTTP\\nresponse_null null_literal';
    comment on function by_comment_204 is E'HTTP\\nresponse_null_handling = 204_no_content';
  `;

  describe.each([
    ['emptyString', text('')],
    ['nullLiteral', text('NULL')],
    ['noContent', noContent],
  ] as const)('textResponseNullHandling %s', (textResponseNullHandling, expected) => {
    const own = useGateway(sql, { textResponseNullHandling });

    test.each(['/api/null-text', '/api/null-int', '/api/null-bool', '/api/no-row', '/api/strict-one?a='])(
      'GET %s',
      async (path) => {
        expect(plain(await own.send(`GET ${path}`))).toEqual(expected);
      },
    );

    test.each(['/api/null-json', '/api/json-null', '/api/null-jsonb', '/api/null-ints'])(
      'GET %s is null',
      async (path) => {
        expect(plain(await own.send(`GET ${path}`))).toEqual(json('null'));
      },
    );

    test('an empty text is not NULL', async () => {
      expect(plain(await own.send('GET /api/empty-text'))).toEqual(text(''));
    });

    test('empty bytes are not NULL', async () => {
      expect(plain(await own.send('GET /api/empty-bytea'))).toEqual({
        status: 200,
        type: 'application/octet-stream',
        body: '',
      });
    });

    test('the comment overrides the option', async () => {
      expect(plain(await own.send('GET /api/by-comment'))).toEqual(text('NULL'));
      expect(plain(await own.send('GET /api/by-comment-204'))).toEqual(noContent);
    });
  });

  test('a session that does not speak ISO is told to', async () => {
    const own = await startGateway(`
      do $$ begin
        execute format('alter database %I set datestyle to ''SQL, DMY''', current_database());
        execute format('alter database %I set bytea_output to escape', current_database());
        execute format('alter database %I set timezone to ''Asia/Kolkata''', current_database());
      end $$;
      create function now_text() returns timestamptz language sql immutable as $$ select '2024-01-12 11:06:59+00'::timestamptz $$;
      comment on function now_text() is 'HTTP';
      create function now_json() returns table (t timestamptz, ts timestamp, d date, b bytea) language sql immutable as $$
        select '2024-01-12 11:06:59+00'::timestamptz, '2024-01-12 11:06:59'::timestamp, '2024-01-12'::date, '\\x0102'::bytea $$;
      comment on function now_json() is 'HTTP';
    `);
    try {
      expect(plain(await own.send('GET /api/now-text'))).toEqual(text('2024-01-12 11:06:59+00'));
      expect(plain(await own.send('GET /api/now-json'))).toEqual(
        json(String.raw`[{"t":"2024-01-12T11:06:59+00:00","ts":"2024-01-12T11:06:59","d":"2024-01-12","b":"\\x0102"}]`),
      );
    } finally {
      await own.close();
    }
  });

  test('the time zone of the connection string', async () => {
    const own = await startGateway(
      `create function zoned() returns table (t timestamptz, old timestamptz) language sql immutable as $$
         select '2024-01-12 11:06:59+00'::timestamptz, '1800-01-01 00:00:00+00'::timestamptz $$;
       comment on function zoned() is 'HTTP';`,
    );
    expect(plain(await own.send('GET /api/zoned'))).toEqual(
      json('[{"t":"2024-01-12T11:06:59+00:00","old":"1800-01-01T00:00:00+00:00"}]'),
    );
    const zoned = await createGateway(`${own.database.connectionString}?options=-c%20TimeZone%3DEurope/Amsterdam`);
    try {
      const answer = await zoned.fetch(new Request('http://x/api/zoned'));
      // The result of PostgreSQL's to_json in that zone; its offset of 1800 has seconds.
      const [row] = await own.database.query(
        `select set_config('TimeZone', 'Europe/Amsterdam', true), to_json(zoned())::text as body from zoned()`,
      );
      expect(await answer!.text()).toBe(`[${row!['body']}]`);
    } finally {
      await zoned.close();
      await own.close();
    }
  });
});
