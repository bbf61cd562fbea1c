import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask } from './support.ts';

/* Results without columns, and conditions of relations without columns. */

const gateway = useGateway(
  `
  create table parent (id int primary key, name text);
  create table child (id int primary key, parent_id int references parent, "none" int, data jsonb);
  insert into parent values (1, 'a'), (2, 'b'), (3, 'c');
  insert into child values (1, 1, 7, '{}'), (2, 1, 8, '{}'), (3, 2, 9, '{}');
  create function parents() returns setof parent language sql stable as 'select * from parent';
  create function first_parent() returns parent language sql stable as 'select * from parent where id = 1';
  create function total() returns int language sql stable as 'select 3';
  create function totals() returns setof int language sql stable as 'values (3), (4)';
`,
  { routineSources: [functionsSource(), postgrestSource({ allowAggregates: true })], commentsMode: 'parseAll' },
);

async function read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { body } = await gateway.send(`GET /rest/${path}`, { headers });
  return JSON.parse(body);
}

test('select= without names gives all columns', async () => {
  const one = { accept: 'application/vnd.pgrst.object+json' };
  expect(await ask(gateway, 'GET /rest/parent?select=', { headers: { prefer: 'count=exact' } })).toMatchInlineSnapshot(`
    "200
    content-range: 0-2/3
    content-type: application/json; charset=utf-8
    preference-applied: count=exact

    [{"id":1,"name":"a"}, 
     {"id":2,"name":"b"}, 
     {"id":3,"name":"c"}]"
  `);
  expect(await read('parent?select=&id=gt.1&order=name&limit=1')).toEqual([{ id: 2, name: 'b' }]);
  expect(await read('parent?select=&id=eq.1', one)).toEqual({ id: 1, name: 'a' });
  expect(await read('parent?select=&id=eq.1', { accept: 'application/vnd.pgrst.array+json;nulls=stripped' })).toEqual([
    { id: 1, name: 'a' },
  ]);
  expect(await read('rpc/parents?select=&limit=1')).toEqual([{ id: 1, name: 'a' }]);
  expect(await read('rpc/first_parent?select=')).toEqual({ id: 1, name: 'a' });
  expect(await read('rpc/total?select=')).toEqual(3);
  expect(await read('rpc/totals?select=')).toEqual([3, 4]);
  expect((await gateway.send('GET /rest/parent?select=&limit=2', { headers: { accept: 'text/csv' } })).body).toBe(
    'id,name\n1,a\n2,b',
  );
});

test('select= of written rows', async () => {
  const sent = { headers: { prefer: 'return=representation, tx=rollback' } };
  expect(await ask(gateway, 'POST /rest/parent?select=', { ...sent, body: [{ id: 8 }, { id: 9 }] }))
    .toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: return=representation

      [{"id":8,"name":null}, 
       {"id":9,"name":null}]"
    `);
  expect(await ask(gateway, 'PATCH /rest/parent?select=&id=gt.7', { ...sent, body: { name: 'x' } })).toMatch(
    /\[{"id":8,"name":"x"},[^]*{"id":9,"name":"x"}]$/,
  );
  expect(await ask(gateway, 'DELETE /rest/parent?select=&id=gt.7', sent)).toMatch(/\[{"id":8,[^]*{"id":9,[^]*]$/);
});

test('related rows without columns: a condition, and no member', async () => {
  expect(await read('parent?select=id,child()&order=id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  expect(await read('parent?select=id,...child()&order=id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  expect(await read('parent?select=id,child!inner()&order=id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await read('parent?select=id,...child!inner()&order=id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await read('parent?select=id,child()&child=is.null')).toEqual([{ id: 3 }]);
  expect(await read('parent?select=id,child()&child=not.is.null&order=id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await read('child?select=id,parent()&parent.id=eq.2&parent=not.is.null')).toEqual([{ id: 3 }]);
  expect(await read('child?select=parent()&order=id')).toEqual([{}, {}, {}]);
  expect(await read('child?select=...parent()')).toEqual([{}, {}, {}]);
  expect(await read('parent?select=id,child(parent())&order=id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  expect(await read('parent?select=id,child!inner(parent())&order=id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await read('parent?select=child(id,parent(child()))&id=eq.2')).toEqual([{ child: [{ id: 3 }] }]);
  expect(await read('parent?select=child(none)&id=eq.2')).toEqual([{ child: [{ none: 9 }] }]);
});

test('blanks in groups', async () => {
  expect(await read('parent?select=id&and=( or ( id.in.( 1, 3 ) , id.eq.2 ) , not.and ( id.eq.2 ) )&order=id')).toEqual(
    [{ id: 1 }, { id: 3 }],
  );
  expect(await read('parent?select=id&or=(id.eq.1, and(id.gt.1, name.eq.c) )&order=id')).toEqual([
    { id: 1 },
    { id: 3 },
  ]);
  expect(await read('parent?select=id&or=( id.eq.1 , not.and( id.gt.1 , name.eq.c))&order=id')).toEqual([
    { id: 1 },
    { id: 2 },
  ]);
});

test('counts of functions', async () => {
  expect(await ask(gateway, 'GET /rest/rpc/total', { headers: { prefer: 'count=exact' } })).toMatchInlineSnapshot(`
    "200
    content-range: 0-0/1
    content-type: application/json; charset=utf-8
    preference-applied: count=exact

    3"
  `);
  expect(await ask(gateway, 'POST /rest/rpc/total', { body: {}, headers: { prefer: 'count=exact' } }))
    .toMatchInlineSnapshot(`
      "200
      content-range: 0-0/1
      content-type: application/json; charset=utf-8
      preference-applied: count=exact

      3"
    `);
  expect(await ask(gateway, 'GET /rest/rpc/totals?limit=1', { headers: { prefer: 'count=exact' } }))
    .toMatchInlineSnapshot(`
      "206
      content-range: 0-0/2
      content-type: application/json; charset=utf-8
      preference-applied: count=exact

      [3]"
    `);
  expect(await ask(gateway, 'GET /rest/rpc/first_parent', { headers: { prefer: 'count=exact' } }))
    .toMatchInlineSnapshot(`
    "200
    content-range: 0-0/1
    content-type: application/json; charset=utf-8
    preference-applied: count=exact

    {"id":1,"name":"a"}"
  `);
  expect(await ask(gateway, 'GET /rest/rpc/parents?select=count()', { headers: { prefer: 'count=exact' } }))
    .toMatchInlineSnapshot(`
      "200
      content-range: 0-0/1
      content-type: application/json; charset=utf-8
      preference-applied: count=exact

      [{"count":3}]"
    `);
});
