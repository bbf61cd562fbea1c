import { crudSource } from '@pgway/core';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/** Publishes all relations and no routines. */
const relations = { routineSources: [crudSource()], commentsMode: 'parseAll' } as const;

describe('the key of a view', () => {
  const gateway = useGateway(
    `
    create table thing (id int primary key, name text, other text);
    create table pair (a int, b int, note text, primary key (b, a));
    create table keyless (id int, name text);
    create view renamed as select name as title, id as number from thing;
    create view over_view as select number as id, title from renamed;
    create view three_deep as select title as "the title", id as ":resno 1 :resname x :resorigtbl" from over_view;
    create view without_key as select name, other from thing;
    create view half_a_key as select a, note from pair;
    create view whole_key as select note, a as y, b as x from pair;
    create view filtered as select * from thing where name in (select t.name from thing t where t.id > 0);
    create view inner_same as select t.name, (select t2.id from thing t2 where t2.id = t.id) as second from thing t;
    create view inner_same_key as select t.name, (select t2.id from thing t2 where t2.id = t.id) as second, t.id from thing t;
    create view inner_other as select k.name, (select t.id from thing t where t.id = k.id) as second from keyless k;
    create view inner_in_where as select k.name, k.id from keyless k where exists (select t.id, t.name from thing t where t.id = k.id);
    create view inner_exists as select k.name, exists (select t.id from thing t) as there from keyless k;
    create view twice as select id, name, id as again from thing;
    create view joined as select t.id, k.name from thing t join keyless k using (id);
    create view unioned as select id, name from thing union all select id, name from keyless;
    create view grouped as select id, count(*) from thing group by id;
    create view expressions as select id + 0 as id, name from thing;
    create view from_subquery as select s.id, s.name from (select id, name from thing) s;
    create view "odd (x)" as select name as "a {b} \\ :resno 1 (c)", id as "tab\t\nnew ""q""\r\u00a0" from thing;
    create view computed_between as select name, upper(other) as loud, id from thing;
    create schema hidden;
    create view hidden.inner_view as select id, name from thing;
    create view over_hidden as select name, id from hidden.inner_view;
    create table dropped_column (gone int, name text, id int primary key);
    alter table dropped_column drop column gone;
    create view over_dropped as select id, name from dropped_column;
  `,
    { ...relations, excludeSchemas: ['hidden'] },
  );

  const keysOf = (name: string): readonly (readonly string[])[] =>
    gateway.gateway.endpoints
      .filter((endpoint) => endpoint.name === name && endpoint.table?.operation === 'select')
      .map(({ table }) => table!.columns.filter(({ key }) => key).map((column) => column.name));

  test.each([
    ['renamed', ['number']],
    ['over_view', ['id']],
    ['three_deep', [':resno 1 :resname x :resorigtbl']],
    ['without_key', []],
    ['half_a_key', []],
    ['whole_key', ['y', 'x']],
    ['filtered', ['id']],
    ['inner_same', []],
    ['inner_same_key', ['id']],
    ['inner_other', []],
    ['inner_in_where', []],
    ['inner_exists', []],
    ['twice', ['id']],
    ['joined', []],
    ['unioned', []],
    ['grouped', []],
    ['expressions', []],
    ['from_subquery', []],
    ['odd (x)', ['tab\t\nnew "q"\r\u00a0']],
    ['computed_between', ['id']],
    ['over_hidden', ['id']],
    ['over_dropped', ['id']],
    ['dropped_column', ['id']],
  ])('%s: %j', (name, keys) => {
    expect(keysOf(name)).toEqual([keys]);
  });

  test('no endpoint is published twice, and none is refused', () => {
    expect(gateway.gateway.diagnostics).toEqual([]);
    const ids = gateway.gateway.endpoints.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(100);
  });
});

describe('PostgreSQL tests cheap conditions first:', () => {
  const gateway = useGateway(
    `
    create table thing (id int primary key, name text);
    create view shown as select name, upper(name) as loud, id from thing;
    alter function pg_catalog.texteq(text, text) cost 1000;
    alter function pg_catalog.textne(text, text) cost 1000;
  `,
    relations,
  );

  test('the key of a view is found whatever functions cost', async () => {
    expect(await ask(gateway, 'PUT /api/shown/on-conflict-do-nothing/returning', { id: 1, name: 'a' })).toEqual([
      200,
      [{ name: 'a', loud: 'A', id: 1 }],
    ]);
  });
});
