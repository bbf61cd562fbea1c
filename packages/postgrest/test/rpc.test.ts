import { PostgrestClient } from '@supabase/postgrest-js';
import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, type Sent } from './support.ts';

const sources = () => [functionsSource(), postgrestSource({ txEnd: 'commit-allow-override' })];

/** Calls of `@supabase/postgrest-js`, unchanged, and plain requests. */
const gateway = useGateway(
  `
  create table author (id int primary key, name text not null);
  create table book (id int primary key, title text not null, author_id int references author);
  insert into author values (1, 'Ann'), (2, 'Bob');
  insert into book values (1, 'One', 1), (2, 'Two', 1), (3, 'Three', 2);
  comment on table author is 'HTTP'; comment on table book is 'HTTP';

  create function add(a int, b int default 10) returns int language sql immutable as $$ select a + b $$;
  create function nothing(a int default null) returns int language sql stable as $$ select null::int $$;
  create function numbers(n int) returns setof int language sql stable as $$ select generate_series(1, n) $$;
  create function books(prefix text default '') returns setof book language sql stable
    as $$ select * from book where title like prefix || '%' $$;
  create function first_book() returns book language sql stable as $$ select * from book order by id limit 1 $$;
  create function pair(x int, out y int, out z text) language sql stable as $$ select x, 'z' $$;
  create function squares(n int) returns table (square int) language sql stable as $$ select i * i from generate_series(1, n) i $$;
  create function total(variadic v int[]) returns bigint language sql immutable as $$ select sum(i) from unnest(v) i $$;
  create function tags(t text[]) returns text language sql immutable as $$ select array_to_string(t, '|') $$;
  create function whole(jsonb) returns jsonb language sql immutable as $$ select $1 $$;
  create function document(d json) returns text language sql immutable as $$ select json_typeof(d) $$;
  create function over(a int) returns text language sql immutable as $$ select 'a' $$;
  create function over(a int, b int) returns text language sql immutable as $$ select 'ab' $$;
  create function same(a int, b int default 0) returns text language sql immutable as $$ select 'b' $$;
  create function same(a int, c text default '') returns text language sql immutable as $$ select 'c' $$;
  create function rename(book_id int, new_title text) returns setof book language sql
    as $$ update book set title = new_title where id = book_id or book_id is null returning * $$;
  create function one_record(i int) returns record language sql stable as $$ select * from book where id = i $$;
  create function records() returns setof record language sql stable as $$ select id, title from book order by id $$;
  create domain any_book as book;
  create function domain_books() returns setof any_book language sql stable as $$ select b::any_book from book b order by id $$;
  create function forget(i int) returns void language sql as $$ delete from book where id = i $$;
  create function typed(a int) returns text language sql immutable as $$ select 'x' $$;
  do $$ declare f regprocedure; begin
    for f in select oid from pg_proc where pronamespace = 'public'::regnamespace and prokind = 'f' loop
      execute format('comment on function %s is ''HTTP''', f);
    end loop;
  end $$;
  comment on function typed is 'HTTP POST';

  create function hidden() returns int language sql stable as $$ select 1 $$;
  create function guarded() returns int language sql stable as $$ select 1 $$;
  comment on function guarded is 'HTTP
authorize admin';
  create function who(name text, claim text default null) returns text language sql stable as $$ select name || coalesce(claim, '-') $$;
  comment on function who is 'HTTP
param claim is ip_address';
  create function keyed(i int) returns int language sql as $$ select i $$;
  comment on function keyed is 'HTTP
idempotent required';
`,
  { routineSources: sources(), commentsMode: 'onlyWithHttpTag' },
);

const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);
const outcome = async (query: PromiseLike<object>): Promise<unknown> => {
  const { data, error, status, count } = (await query) as {
    readonly data: unknown;
    readonly error: { readonly code: string } | null;
    readonly status: number;
    readonly count: number | null;
  };
  return error === null ? [status, data, ...(count === null ? [] : [count])] : [status, error.code];
};

describe('the client', () => {
  test.each<[string, (c: PostgrestClient) => PromiseLike<object>, unknown]>([
    ['scalar', (c) => c.rpc('add', { a: 1, b: 2 }), [200, 3]],
    ['default', (c) => c.rpc('add', { a: 1 }), [200, 11]],
    ['get', (c) => c.rpc('add', { a: 1, b: 2 }, { get: true }), [200, 3]],
    ['head', (c) => c.rpc('books', {}, { head: true, count: 'exact' }), [200, null, 3]],
    ['null', (c) => c.rpc('nothing'), [200, null]],
    ['set of values', (c) => c.rpc('numbers', { n: 3 }), [200, [1, 2, 3]]],
    ['page of values', (c) => c.rpc('numbers', { n: 9 }).range(2, 3), [200, [3, 4]]],
    [
      'rows',
      (c) => c.rpc('books', { prefix: 'T' }).select('id,title').order('id', { ascending: false }).limit(1),
      [200, [{ id: 3, title: 'Three' }]],
    ],
    ['filters', (c) => c.rpc('books').select('id').eq('author_id', 1).gt('id', 1), [200, [{ id: 2 }]]],
    [
      'filters by get',
      (c) => c.rpc('books', { prefix: 'T' }, { get: true }).select('id').neq('id', 2),
      [200, [{ id: 3 }]],
    ],
    [
      'related rows',
      (c) => c.rpc('books', { prefix: 'O' }).select('title,author(name)'),
      [200, [{ title: 'One', author: { name: 'Ann' } }]],
    ],
    ['count', (c) => c.rpc('books', {}, { count: 'exact' }).select('id').limit(1), [206, [{ id: 1 }], 3]],
    ['single', (c) => c.rpc('books', { prefix: 'O' }).select('id').single(), [200, { id: 1 }]],
    ['single of many', (c) => c.rpc('books').select('id').single(), [406, 'PGRST116']],
    ['maybeSingle', (c) => c.rpc('books', { prefix: 'x' }).select('id').maybeSingle(), [200, null]],
    ['row', (c) => c.rpc('first_book').select('id,title'), [200, { id: 1, title: 'One' }]],
    ['output parameters', (c) => c.rpc('pair', { x: 4 }), [200, { y: 4, z: 'z' }]],
    ['table of one column', (c) => c.rpc('squares', { n: 2 }), [200, [{ square: 1 }, { square: 4 }]]],
    [
      'order of a table',
      (c) => c.rpc('squares', { n: 2 }).order('square', { ascending: false }).limit(1),
      [200, [{ square: 4 }]],
    ],
    ['variadic', (c) => c.rpc('total', { v: [1, 2, 3] }), [200, 6]],
    ['array', (c) => c.rpc('tags', { t: ['a', 'b,c'] }), [200, 'a|b,c']],
    ['array by get', (c) => c.rpc('tags', { t: ['a', 'b'] }, { get: true }), [200, 'a|b']],
    ['whole body', (c) => c.rpc('whole', { a: [1] }), [200, { a: [1] }]],
    ['JSON string', (c) => c.rpc('document', { d: 'text' }), [200, 'string']],
    ['JSON by get', (c) => c.rpc('document', { d: '[1]' }, { get: true }), [200, 'array']],
    ['overload', (c) => c.rpc('over', { a: 1 }), [200, 'a']],
    ['other overload', (c) => c.rpc('over', { a: 1, b: 2 }), [200, 'ab']],
    ['ambiguous', (c) => c.rpc('same', { a: 1 }), [300, 'PGRST203']],
    ['unknown argument', (c) => c.rpc('add', { a: 1, x: 2 }), [404, 'PGRST202']],
    ['no overload', (c) => c.rpc('over', { b: 1 }), [404, 'PGRST202']],
    ['missing argument', (c) => c.rpc('add'), [404, 'PGRST202']],
    ['invalid argument', (c) => c.rpc('add', { a: 'x' }), [400, '22P02']],
    ['unknown column', (c) => c.rpc('books').select('nope'), [400, '42703']],
    ['unknown relation', (c) => c.rpc('squares', { n: 1 }).select('square,author(name)'), [400, 'PGRST200']],
    ['filter of a value', (c) => c.rpc('numbers', { n: 1 }).eq('n', 1), [400, 'PGRST100']],
    ['role', (c) => c.rpc('guarded'), [401, 'PGRST302']],
  ])('%s', async (_, call, expected) => {
    expect(await outcome(call(client()))).toEqual(expected);
  });

  test('functions that change data', async () => {
    expect(await outcome(client().rpc('rename', { book_id: null, new_title: 'x' }).select('id').single())).toEqual([
      406,
      'PGRST116',
    ]);
    expect(
      await outcome(
        client()
          .rpc('rename', { book_id: null, new_title: 'x' })
          .setHeader('prefer', 'handling=strict, max-affected=2'),
      ),
    ).toEqual([400, 'PGRST124']);
    expect(await outcome(client().rpc('rename', { book_id: 3, new_title: 'x' }).rollback())).toEqual([
      200,
      [{ id: 3, title: 'x', author_id: 2 }],
    ]);
    expect(await gateway.database.query('select title from book order by id')).toEqual([
      { title: 'One' },
      { title: 'Two' },
      { title: 'Three' },
    ]);
    expect(await outcome(client().rpc('forget', { i: 77 }))).toEqual([204, null]);
  });
});

describe('requests', () => {
  test('records without declared columns are values, and rows of a domain are those of its table', async () => {
    expect(await ask(gateway, 'POST /rest/rpc/one_record', { body: { i: 3 } })).toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      {"id":3,"title":"Three","author_id":2}"
    `);
    expect(await ask(gateway, 'GET /rest/rpc/records?limit=2', { headers: { prefer: 'count=exact' } }))
      .toMatchInlineSnapshot(`
      "206
      content-range: 0-1/3
      content-type: application/json; charset=utf-8
      preference-applied: count=exact

      [{"id":1,"title":"One"}, 
       {"id":2,"title":"Two"}]"
    `);
    expect(await ask(gateway, 'GET /rest/rpc/records?id=eq.1')).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"PGRST100","message":"The value of \\"query\\" cannot be parsed","details":"the result of records has no columns; only limit and offset are possible","hint":null}"
    `);
    expect(await ask(gateway, 'GET /rest/rpc/domain_books?select=title,author(name)&id=eq.3')).toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      [{"title":"Three","author":{"name":"Bob"}}]"
    `);
  });

  test('whole responses', async () => {
    const sent: readonly (readonly [line: string, sent: Sent])[] = [
      ['POST /rest/rpc/books?select=id&order=id&limit=2', { headers: { prefer: 'count=exact' }, body: {} }],
      ['GET /rest/rpc/books?prefix=T&select=id,title&title=like.Th*', { headers: { accept: 'text/csv' } }],
      ['HEAD /rest/rpc/books?prefix=O', {}],
      ['GET /rest/rpc/total?v=1&v=2&v=3', {}],
      ['GET /rest/rpc/first_book', { headers: { accept: 'application/vnd.pgrst.object+json' } }],
      ['POST /rest/rpc/add', { body: [1] }],
      ['POST /rest/rpc/add', { body: { a: 1 }, headers: { 'content-profile': 'public' } }],
      ['POST /rest/rpc/add', { body: { a: 1 }, headers: { 'content-profile': 'other' } }],
      ['POST /rest/rpc/forget', { body: { i: 78 } }],
    ];
    const responses: string[] = [];
    for (const [line, each] of sent) responses.push(`${line}\n${await ask(gateway, line, each)}`);
    expect(responses.join('\n\n')).toMatchInlineSnapshot(`
      "POST /rest/rpc/books?select=id&order=id&limit=2
      206
      content-range: 0-1/3
      content-type: application/json; charset=utf-8
      preference-applied: count=exact

      [{"id":1}, 
       {"id":2}]

      GET /rest/rpc/books?prefix=T&select=id,title&title=like.Th*
      200
      content-range: 0-0/*
      content-type: text/csv; charset=utf-8

      id,title
      3,Three

      HEAD /rest/rpc/books?prefix=O
      200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      GET /rest/rpc/total?v=1&v=2&v=3
      200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      6

      GET /rest/rpc/first_book
      200
      content-range: 0-0/*
      content-type: application/vnd.pgrst.object+json; charset=utf-8

      {"id":1,"title":"One","author_id":1}

      POST /rest/rpc/add
      400
      content-type: application/json; charset=utf-8

      {"code":"PGRST102","message":"The arguments must be a JSON object","details":"The body is another value","hint":null}

      POST /rest/rpc/add
      200
      content-profile: public
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      11

      POST /rest/rpc/add
      406
      content-type: application/json; charset=utf-8

      {"code":"PGRST106","message":"Invalid schema: other","details":null,"hint":"Only the following schemas are exposed: public"}

      POST /rest/rpc/forget
      204"
    `);
  });

  test('methods and functions that are not offered', async () => {
    for (const [line, body] of [
      ['GET /rest/rpc/forget?i=1', undefined],
      ['GET /rest/rpc/typed?a=1', undefined],
      ['DELETE /rest/rpc/add', undefined],
    ] as const) {
      expect((await ask(gateway, line, { body })).slice(0, 3)).toBe('405');
    }
    for (const name of ['hidden', 'keyed', 'nope']) {
      expect((await ask(gateway, `POST /rest/rpc/${name}`, { body: {} })).slice(0, 3)).toBe('404');
    }
  });

  test('parameters that the gateway fills are no arguments', async () => {
    expect(await ask(gateway, 'POST /rest/rpc/who', { body: { name: 'n', claim: 'forged' } })).toContain('PGRST202');
    expect(await ask(gateway, 'GET /rest/rpc/who?name=n&claim=forged')).toContain('PGRST202');
    expect(await ask(gateway, 'POST /rest/rpc/who', { body: { name: 'n' } })).toContain('"n127.0.0.1"');
  });
});
