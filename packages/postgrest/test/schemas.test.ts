import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

const sql = `
  create schema shop;
  create schema archive;
  create table shop.item (id int primary key, name text);
  create table shop.part (id int primary key, item_id int references shop.item);
  create table archive.item (id int primary key, year int);
  create table archive.old_file (id int primary key);
  create view archive.total as select count(*) as n from archive.item;
  insert into shop.item values (1, 'new');
  insert into shop.part values (1, 1);
  insert into archive.item values (7, 1999);
  create function shop.hello() returns text language sql stable as $$select 'shop'$$;
  create function archive.hello() returns text language sql stable as $$select 'archive'$$;
  create function archive.touch(a int) returns int language sql volatile as 'select a';
`;

function options(includeSchemas: readonly string[]) {
  return {
    routineSources: [functionsSource(), postgrestSource()],
    commentsMode: 'parseAll',
    includeSchemas,
  } as const;
}

describe('tables and functions of one name in two schemas', () => {
  const gateway = useGateway(sql, options(['shop', 'archive']));
  const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);

  test('the first schema is the default, a header selects another one', async () => {
    expect(await client().from('item').select('*, part(id)')).toMatchObject({
      data: [{ id: 1, name: 'new', part: [{ id: 1 }] }],
    });
    expect(await client().schema('archive').from('item').select()).toMatchObject({ data: [{ id: 7, year: 1999 }] });
    expect(await client().schema('shop').from('item').select('name').single()).toMatchObject({ data: { name: 'new' } });
    expect(await client().rpc('hello')).toMatchObject({ data: 'shop' });
    expect(await client().schema('archive').rpc('hello')).toMatchObject({ data: 'archive' });
    expect(await client().schema('archive').rpc('hello', {}, { get: true })).toMatchObject({ data: 'archive' });
    expect(await ask(gateway, 'GET /rest/item?select=id', { headers: { 'accept-profile': 'archive' } }))
      .toMatchInlineSnapshot(`
      "200
      content-profile: archive
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      [{"id":7}]"
    `);
  });

  test('caches keep the forms of a response apart', async () => {
    const vary = async (line: string): Promise<unknown> => (await gateway.send(line)).headers.get('vary');
    const all = 'Accept, Prefer, Range, Accept-Profile';
    expect([await vary('GET /rest/item'), await vary('HEAD /rest/rpc/hello'), await vary('GET /rest/')]).toEqual([
      all,
      all,
      all,
    ]);
  });

  test('writes', async () => {
    const archive = client().schema('archive');
    expect(await archive.from('item').insert({ id: 8, year: 2001 }).select()).toMatchObject({ status: 201 });
    expect(await archive.from('item').update({ year: 2002 }).eq('id', 8).select('year')).toMatchObject({
      data: [{ year: 2002 }],
    });
    expect(await archive.from('item').delete().eq('id', 8)).toMatchObject({ status: 204 });
    // Content-Profile is for writes, Accept-Profile for reads: the other one is ignored.
    expect((await gateway.send('GET /rest/item', { headers: { 'content-profile': 'archive' } })).body).toContain('new');
    expect(await client().from('item').insert({ id: 9, year: 1 })).toMatchObject({ error: { code: 'PGRST204' } });
  });

  test('a table that only another schema has needs no header, and related rows stay in their schema', async () => {
    expect(await client().from('old_file').select()).toMatchObject({ data: [] });
    expect(await client().schema('archive').from('item').select('part(id)')).toMatchObject({
      error: { code: 'PGRST200' },
    });
  });

  test.each([
    ['GET /rest/item', 'none', 406, 'PGRST106'],
    ['POST /rest/item', 'none', 406, 'PGRST106'],
    ['GET /rest/part', 'none', 406, 'PGRST106'],
    ['GET /rest/nothing', 'none', 406, 'PGRST106'],
    ['GET /rest/rpc/hello', 'pg_catalog', 406, 'PGRST106'],
    ['POST /rest/rpc/hello', '"; drop', 406, 'PGRST106'],
    ['GET /rest/part', 'archive', 404, 'PGRST205'],
    ['GET /rest/old_file', 'shop', 404, 'PGRST205'],
    ['POST /rest/rpc/touch', 'shop', 404, 'PGRST202'],
  ])('%s with the schema %s: %s %s', async (line, schema, status, code) => {
    const headers = { 'accept-profile': schema, 'content-profile': schema };
    const response = await gateway.send(line, { headers, ...(line.startsWith('GET') ? {} : { body: {} }) });
    expect([response.status, JSON.parse(response.body).code]).toEqual([status, code]);
  });

  test('each response with a body names the schema, also without the header', async () => {
    const profileOf = async (line: string, schema?: string): Promise<string | null> => {
      const headers = schema === undefined ? {} : { 'accept-profile': schema };
      return (await gateway.send(line, { headers })).headers.get('content-profile');
    };
    expect(await profileOf('GET /rest/item')).toBe('shop');
    expect(await profileOf('GET /rest/old_file')).toBe('archive');
    expect(await profileOf('GET /rest/item', 'archive')).toBe('archive');
    expect(await profileOf('GET /rest/rpc/hello')).toBe('shop');
    expect(await profileOf('GET /rest/')).toBe('shop');
  });

  test('an unknown schema lists the others, in their order', async () => {
    expect(await ask(gateway, 'GET /rest/item', { headers: { 'accept-profile': 'none' } })).toMatchInlineSnapshot(`
      "406
      content-type: application/json; charset=utf-8

      {"code":"PGRST106","message":"Invalid schema: none","details":null,"hint":"Only the following schemas are exposed: shop, archive"}"
    `);
  });
});

describe('the order of includeSchemas', () => {
  const gateway = useGateway(sql, options(['archive', 'shop']));

  test('the first one is the default, of functions too', async () => {
    expect((await gateway.send('GET /rest/item')).body).toBe('[{"id":7,"year":1999}]');
    expect((await gateway.send('GET /rest/rpc/hello')).body).toBe('"archive"');
  });
});

describe('names of schemas in headers', () => {
  const odd = `create schema "a ""b\\"; create table "a ""b\\".item (id int); create schema "größe"; create table "größe".size (id int);`;
  const gateway = useGateway(odd, options(['a "b\\', 'größe']));

  test('letters that headers do not have are percent-encoded, others are sent as they are', async () => {
    const first = await gateway.send('GET /rest/item', { headers: { 'accept-profile': 'a "b\\' } });
    expect([first.status, first.headers.get('content-profile')]).toEqual([200, 'a "b\\']);
    expect((await gateway.send('GET /rest/size')).headers.get('content-profile')).toBe('gr%C3%B6%C3%9Fe');
  });
});

describe('a schema whose name has characters that paths do not have', () => {
  const name = 'SPECIAL "@/\\#~_-';
  const quoted = '"SPECIAL ""@/\\#~_-"';
  const gateway = useGateway(
    `
    create schema ${quoted};
    create table ${quoted}.item (id int primary key, name text);
    create table ${quoted}.part (id int primary key, item_id int references ${quoted}.item);
    create function ${quoted}.hello(who text) returns text language sql stable as $$ select 'hello ' || who $$;
    create function ${quoted}.items() returns setof ${quoted}.item language sql stable as $$ select * from ${quoted}.item $$;
    comment on function ${quoted}.hello is 'HTTP GET /hello';
    `,
    options(['public', name]),
  );
  const headers = { 'accept-profile': name, 'content-profile': name, prefer: 'return=representation' };

  test('tables with related rows, and functions with a path of their own', async () => {
    const send = (line: string, body?: unknown): Promise<string> =>
      ask(gateway, line, { headers, ...(body === undefined ? {} : { body }) });
    expect(await send('POST /rest/item?select=id,part(id)', { id: 1, part: [{ id: 7 }] })).toMatchInlineSnapshot(`
      "201
      content-profile: SPECIAL "@/\\#~_-
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: return=representation

      [{"id":1,"part":[{"id":7}]}]"
    `);
    expect(await send('GET /rest/part?select=id,item(name)')).toMatchInlineSnapshot(`
      "200
      content-profile: SPECIAL "@/\\#~_-
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      [{"id":7,"item":{"name":null}}]"
    `);
    expect(await send('GET /rest/rpc/hello?who=Ada')).toMatchInlineSnapshot(`
      "200
      content-profile: SPECIAL "@/\\#~_-
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      "hello Ada""
    `);
    expect(await send('POST /rest/rpc/hello', { who: 'Ada' })).toMatchInlineSnapshot(`
      "200
      content-profile: SPECIAL "@/\\#~_-
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      "hello Ada""
    `);
  });

  test('the default path of a function would have these characters: the function has no call', async () => {
    expect((await gateway.send('GET /rest/rpc/items', { headers })).status).toBe(404);
    const faults = gateway.observations
      .flatMap((each) => (each.kind === 'diagnostic' ? [each.diagnostic] : []))
      .filter(({ severity }) => severity === 'error');
    expect(faults.map(({ code, routine }) => [code, routine])).toEqual([['path-syntax', `${quoted}.items()`]]);
  });
});

describe('what does not exist', () => {
  const gateway = useGateway(sql, options(['shop', 'archive']));

  test.each(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'])('a table, %s', async (method) => {
    const response = await gateway.send(`${method} /rest/nothing`, method === 'PATCH' ? { body: {} } : {});
    expect(response.status).toBe(404);
  });

  test('the errors of PostgREST, with a similar name', async () => {
    expect(await ask(gateway, 'GET /rest/Items?select=a')).toMatchInlineSnapshot(`
      "404
      content-type: application/json; charset=utf-8

      {"code":"PGRST205","message":"Could not find the table 'shop.Items' in the schema cache","details":null,"hint":"Perhaps you meant the table 'shop.item'"}"
    `);
    expect((await gateway.send('GET /rest/item_of_2024_q1')).body).toContain(
      `"hint":"Perhaps you meant the table 'shop.item'"`,
    );
    expect((await gateway.send('GET /rest/items_of_2024_q1')).body).toContain('"hint":null');
    expect(await ask(gateway, 'POST /rest/rpc/Hello', { body: {} })).toMatchInlineSnapshot(`
      "404
      content-type: application/json; charset=utf-8

      {"code":"PGRST202","message":"Could not find the function shop.Hello without parameters in the schema cache","details":"Searched for the function shop.Hello without parameters or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.","hint":"Perhaps you meant to call the function shop.hello"}"
    `);
    const client = new PostgrestClient(`${gateway.url}/rest`);
    expect(await client.from('nothing').select()).toMatchObject({
      status: 404,
      error: { code: 'PGRST205', hint: null },
    });
    expect(await client.rpc('nothing')).toMatchObject({ status: 404, error: { code: 'PGRST202' } });
    expect(await client.from('item').select('nothing')).toMatchObject({ status: 400, error: { code: '42703' } });
    expect(await client.from('item').insert({ nothing: 1 })).toMatchObject({
      status: 400,
      error: { code: 'PGRST204' },
    });
  });

  test.each([
    ['GET /rest/a/b', 'PGRST125'],
    ['GET /rest/rpc/', 'PGRST125'],
    ['GET /rest/%zz', 'PGRST125'],
    [`GET /rest/${'x'.repeat(5_000)}`, 'PGRST205'],
    ['GET /rest/%22%3Cscript%3E', 'PGRST205'],
  ])('%s', async (line, code) => {
    const response = await gateway.send(line);
    expect([response.status, JSON.parse(response.body).code]).toEqual([404, code]);
    expect(response.body.length).toBeLessThan(400);
  });

  test('a method', async () => {
    expect(await ask(gateway, 'PATCH /rest/total', { body: { n: 1 } })).toMatchInlineSnapshot(`
      "405
      allow: GET, HEAD, OPTIONS
      content-type: application/json; charset=utf-8

      {"code":"PGRST117","message":"Unsupported HTTP method: PATCH","details":null,"hint":null}"
    `);
    expect(await ask(gateway, 'PATCH /rest/rpc/touch?a=1')).toMatchInlineSnapshot(`
      "405
      allow: GET, HEAD, OPTIONS, POST
      content-type: application/json; charset=utf-8

      {"code":"PGRST101","message":"Cannot use the PATCH method on RPC","details":null,"hint":null}"
    `);
  });

  test('other paths are those of pgway', async () => {
    expect((await gateway.send('GET /restaurant')).body).not.toContain('PGRST');
    expect((await gateway.send('GET /api/nothing')).body).not.toContain('PGRST');
    expect((await gateway.send('OPTIONS /api/nothing')).status).toBe(404);
    expect((await gateway.send('OPTIONS /rest/nothing')).status).toBe(404);
  });
});
