import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask } from './support.ts';

/* Forms of requests to read that the documentation of PostgREST has, or its clients rely on. */

const gateway = useGateway(
  `
  create table town (id int primary key, name text not null);
  create table mayor (id int primary key, name text, town_id int unique references town);
  create table club (id int primary key, name text, town_id int references town, facts json);
  create table member (id int primary key, name text, club_id int references club, fee numeric, sponsor int references member);
  create table fair (id int primary key, name text, host int references town);
  create table fair_town (fair_id int references fair, town_id int references town, primary key (fair_id, town_id));
  create view far_fair_town as select * from fair_town where town_id > 1;
  create schema hidden;
  create table hidden.place (id int primary key, part_of int references hidden.place);
  create view place as select id, part_of from hidden.place;
  create table label (id int primary key, text text);
  insert into town values (1, 'Ulm'), (2, 'Bonn'), (3, 'Kiel');
  insert into mayor values (1, 'Ada', 1), (2, 'Bo', 2);
  insert into club values (1, 'Chess', 1, '{"#1! (a)": {"b-2": 5}, "x": [1, 2]}'), (2, 'Row', 1, null), (3, 'Run', 2, null);
  insert into member values (1, 'Cem', 1, 10, null), (2, 'Dua', 1, 20, 1), (3, 'Eva', 3, 5, 1);
  insert into fair values (1, 'Spring', 1), (2, 'Autumn', 2);
  insert into fair_town values (1, 1), (1, 3), (2, 2);
  insert into hidden.place values (1, null), (2, 1);
  insert into label values (1, 'a "b" c'), (2, '"'), (3, 'x, y'), (4, '('), (5, '');
  create function clubs() returns setof club language sql stable as 'select * from club';
`,
  {
    routineSources: [functionsSource(), postgrestSource({ allowAggregates: true })],
    commentsMode: 'parseAll',
    includeSchemas: ['public'],
  },
);

async function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { body } = await gateway.send(`GET /rest/${path}`, { headers });
  return JSON.parse(body);
}

describe('values', () => {
  test.each([
    ['("x, y")', [3]],
    ['(a "b" c)', [1]],
    ['("a \\"b\\" c",()', [1, 4]],
    ['(")', [2]],
    ['( )', []],
    ['()', []],
    ['( ,x)', [5]],
  ])('of the list in.%s', async (list, ids) => {
    const found = await get(`label?select=id&text=in.${encodeURIComponent(list)}&order=id`);
    expect(found).toEqual(ids.map((id) => ({ id })));
  });

  test('closing parentheses and apostrophes that are too many have no effect; other text has', async () => {
    expect(await get('town?select=id,mayor(name))&id=eq.1')).toEqual([{ id: 1, mayor: { name: 'Ada' } }]);
    expect(await get("town?select=name,club(count)'&id=eq.1")).toEqual([{ name: 'Ulm', club: [{ count: 2 }] }]);
    expect(await get('town?select=id&or=(id.eq.1,name.eq.Kiel))&order=id')).toEqual([{ id: 1 }, { id: 3 }]);
    expect(await get('town?select=id&or=(id.eq.1)x')).toMatchObject({
      code: 'PGRST100',
      details: 'the end is expected at position 9',
    });
  });

  test('keys of JSON with characters that names do not have', async () => {
    const key = encodeURIComponent('"#1! (a)"');
    expect(await get(`club?select=n:facts->${key}->>b-2&id=eq.1`)).toEqual([{ n: '5' }]);
    expect(await get('club?select=id&facts->>@!%23$%25^%26*_=is.null&order=id&limit=1')).toEqual([{ id: 1 }]);
    expect(await get('club?select=n:facts->x->>-1&id=eq.1')).toEqual([{ n: '2' }]);
    expect(await get('club?select=facts->>x->0')).toEqual({
      code: '42883',
      message: 'operator does not exist: text -> integer',
      details: null,
      hint: 'No operator matches the given name and argument types. You might need to add explicit type casts.',
    });
    expect((await gateway.send('GET /rest/club?facts->>x->>y=eq.1')).status).toBe(404);
    expect(await get('club?select=facts->>-x')).toMatchObject({
      code: 'PGRST100',
      details: 'a number is expected after "-" at position 10',
    });
  });

  test('casts to types with a name of several words, and to arrays', async () => {
    expect(await get('town?select=a:id::character varying,b:id::oid,c:name::name&id=eq.1')).toEqual([
      { a: '1', b: '1', c: 'Ulm' },
    ]);
    expect(await get('label?select=text::_text&id=eq.5')).toMatchObject({ code: '22P02' });
    expect(await get('town?select=name::pg_catalog.text')).toMatchObject({ code: 'PGRST100' });
    expect(await get('town?select=name::secret')).toEqual({
      code: '42704',
      message: 'type "secret" does not exist',
      details: null,
      hint: null,
    });
  });
});

describe('pages', () => {
  test.each([
    ['town?select=id&order=id&limit=2', '1-5', 200, [2]],
    ['town?select=id&order=id&limit=1&offset=1', '0-1', 200, [2]],
    ['town?select=id&order=id&offset=1', '0-1', 200, [2]],
    ['town?select=id&order=id&limit=1', '2-2', 200, []],
    ['town?select=id&order=id&offset=-3', '', 200, [1, 2, 3]],
    ['town?select=id&order=id', '1-0', 416, null],
    ['rpc/clubs?select=id&order=id', '3-1', 416, null],
    ['town?select=id&limit=-1', '', 416, null],
  ])('%s of the range %s', async (path, range, status, ids) => {
    const response = await gateway.send(`GET /rest/${path}`, range === '' ? {} : { headers: { range } });
    const refused = expect.objectContaining({
      code: 'PGRST103',
      message: 'Requested range not satisfiable',
    }) as unknown;
    const expected = ids === null ? refused : ids.map((id) => ({ id }));
    expect([response.status, JSON.parse(response.body)]).toEqual([status, expected]);
  });

  test('an offset of one related row leaves it out', async () => {
    expect(await get('mayor?select=id,town(name)&town.offset=1&order=id')).toEqual([
      { id: 1, town: null },
      { id: 2, town: null },
    ]);
  });
});

describe('relationships', () => {
  test('one to one: by the referenced column as name and as hint', async () => {
    expect(await get('town?select=name,id(name)&id=eq.1')).toEqual([{ name: 'Ulm', id: { name: 'Ada' } }]);
    expect(await get('town?select=mayor!id(name)&id=eq.1')).toEqual([{ mayor: { name: 'Ada' } }]);
    expect(await get('mayor?select=town!id(name)&id=eq.1')).toEqual([{ town: { name: 'Ulm' } }]);
    expect(await get('town?select=club!town_id(id)&id=eq.2')).toEqual([{ club: [{ id: 3 }] }]);
    expect(await get('club?select=id(name)')).toMatchObject({ code: 'PGRST200', hint: null });
  });

  test('a view of a readable junction connects rows by hint only', async () => {
    expect(await get('fair?select=id,town!fair_town(id)&id=eq.1&town.order=id')).toEqual([
      { id: 1, town: [{ id: 1 }, { id: 3 }] },
    ]);
    expect(await get('fair?select=id,town!far_fair_town(id)&id=eq.1')).toEqual([{ id: 1, town: [{ id: 3 }] }]);
    expect(await ask(gateway, 'GET /rest/fair?select=town(id)')).toMatchInlineSnapshot(`
      "300
      content-type: application/json; charset=utf-8

      {"code":"PGRST201","message":"Could not embed because more than one relationship was found for 'fair' and 'town'","details":[{"cardinality":"many-to-one","embedding":"fair with town","relationship":"fair_host_fkey using fair(host) and town(id)"},{"cardinality":"many-to-many","embedding":"fair with town","relationship":"fair_town using fair_town_fair_id_fkey(fair_id) and fair_town_town_id_fkey(town_id)"},{"cardinality":"many-to-many","embedding":"fair with town","relationship":"far_fair_town using fair_town_fair_id_fkey(fair_id) and fair_town_town_id_fkey(town_id)"}],"hint":"Try changing 'town' to one of the following: 'town!fair_host_fkey', 'town!fair_town', 'town!far_fair_town'. Find the desired relationship in the 'details' key."}"
    `);
  });

  test('a view related with itself by the column of its key, if its table is not published', async () => {
    expect(await get('place?select=id,part_of(id),parts:place!part_of(id)&order=id')).toEqual([
      { id: 1, part_of: null, parts: [{ id: 2 }] },
      { id: 2, part_of: { id: 1 }, parts: [] },
    ]);
  });

  test('conditions of spread relations', async () => {
    expect(await get('town?select=name,...club(club:name)&club=is.null')).toEqual([{ name: 'Kiel', club: [] }]);
    expect(await get('town?select=name,...mayor(mayor:name)&mayor=not.is.null&order=id')).toEqual([
      { name: 'Ulm', mayor: 'Ada' },
      { name: 'Bonn', mayor: 'Bo' },
    ]);
    expect(await get('town?select=found:name,...mayor(found_:name)&mayor=is.null')).toEqual([
      { found: 'Kiel', found_: null },
    ]);
    const counted = { headers: { prefer: 'count=exact' } };
    const response = await gateway.send('GET /rest/town?select=...club(club:name)&club=not.is.null', counted);
    expect(response.headers.get('content-range')).toBe('0-1/2');
  });

  test('filters, orders and pages of relations that are not selected', async () => {
    expect(await get('town?select=id,club(id)&club.members.name=eq.x')).toMatchObject({
      code: 'PGRST108',
      message: "'members' is not an embedded resource in this request",
      hint: "Verify that 'members' is included in the 'select' query parameter.",
    });
    expect(await get('town?select=id,clubs:club(id),others:club(id)&club.limit=1')).toMatchObject({
      code: 'PGRST108',
      details: 'Target names are not allowed in filters if they have an alias',
      hint: "Change 'club' to 'clubs' in filters, orders or limits.",
    });
    expect(await get('club?select=id&order=towns(name)')).toMatchObject({ code: 'PGRST108' });
    expect(await get('town?select=id,club(id)&order=club(id)')).toEqual({
      code: 'PGRST118',
      message: "A related order on 'club' is not possible",
      details: "'town' and 'club' do not form a many-to-one or one-to-one relationship",
      hint: null,
    });
  });

  test('filters, orders and pages name a relation with an alias by its alias or by its table', async () => {
    const select = 'town?select=name,clubs:club(name,people:member(name))&order=id&limit=1';
    const people = (...names: string[]): unknown => names.map((name) => ({ name }));
    const ulm = [{ name: 'Ulm', clubs: [{ name: 'Chess', people: people('Dua', 'Cem') }] }];
    for (const [club, member] of [
      ['clubs', 'people'],
      ['club', 'member'],
      ['clubs', 'member'],
    ]) {
      const path = `${club}.${member}`;
      const page = `${club}.order=id&${club}.limit=1&${path}.order=id.desc&${path}.limit=5&${path}.fee=gt.0`;
      expect(await get(`${select}&${page}`)).toEqual(ulm);
      // The statement is compiled once for other values.
      expect(await get(`${select}&${page.replace('gt.0', 'gt.10')}`)).toEqual([
        { name: 'Ulm', clubs: [{ name: 'Chess', people: people('Dua') }] },
      ]);
    }
    // Filters by both names apply together.
    expect(await get('town?select=a:club(id)&club.order=id.desc&a.limit=1&club.id=lt.3&order=id&limit=1')).toEqual([
      { a: [{ id: 2 }] },
    ]);
    // A relation with the name as its alias is meant.
    expect(await get('town?select=club:mayor(id),x:club(id)&club.id=gt.1&order=id&limit=1')).toEqual([
      { club: null, x: [{ id: 1 }, { id: 2 }] },
    ]);
  });

  test('groups by spread columns, ordered by their names in the result; by JSON within them', async () => {
    expect(await get('member?select=total:fee.sum(),...club(club:name)&order=club(club).desc')).toEqual([
      { total: 5, club: 'Run' },
      { total: 30, club: 'Chess' },
    ]);
    expect(await get('member?select=fee.sum(),...club(town(name))&order=sum')).toMatchObject({ code: '42703' });
    expect(await get('member?select=fee.sum(),...club(town(name),facts)&club_id=eq.3')).toEqual([
      { sum: 5, town: { name: 'Bonn' }, facts: null },
    ]);
    expect(await get('town?select=name,...club(id.count())')).toMatchObject({ code: 'PGRST127' });
  });
});

describe('responses', () => {
  test('Content-Location has the parameters in the order of their names', async () => {
    const locationOf = async (path: string): Promise<string | null> =>
      (await gateway.send(`GET /rest/${path}`)).headers.get('content-location');
    expect(await locationOf('town')).toBe('/rest/town');
    expect(await locationOf('town?select=id,name&id=gt.1&id=lt.3')).toBe('/rest/town?id=gt.1&id=lt.3&select=id%2Cname');
    expect(await locationOf("town?name=eq.a'b*")).toBe('/rest/town?name=eq.a%27b%2A');
    expect(await locationOf('rpc/clubs')).toBeNull();
    expect(await locationOf(`town?name=eq.${'x'.repeat(5_000)}`)).toBeNull();
  });

  test('an array without stripped nulls is JSON', async () => {
    const { type, body } = await gateway.send('GET /rest/member?select=sponsor&id=eq.1', {
      headers: { accept: 'application/vnd.pgrst.array+json' },
    });
    expect([type, body]).toEqual(['application/json; charset=utf-8', '[{"sponsor":null}]']);
  });
});
