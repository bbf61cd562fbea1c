import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { viewColumnsSql } from '@pgway/core/internal';
import { databaseTypes } from '@pgway/postgrest';
import { postgrestTable } from '../src/dialect-table.ts';
import { keepKeyFacts, keyFactsOf } from '../src/key-facts.ts';
import { ask, postgrest } from './support.ts';

/** Related rows of views, along the keys of the tables that they show. */
const gateway = useGateway(
  `
  create table author (id int primary key, name text not null, rival int references author);
  create table book (id int primary key, title text not null, author_id int references author, editor_id int references author, secret text);
  create table genre (id int primary key, name text not null);
  create table book_genre (book_id int references book, genre_id int references genre, primary key (book_id, genre_id));
  create table shop (country text, number int, name text, primary key (country, number));
  create table sale (id int primary key, country text, shop int, foreign key (country, shop) references shop);
  insert into author values (1, 'Ann', null), (2, 'Bob', 1);
  insert into book values (1, 'One', 1, 2, 's'), (2, 'Two', 1, null, 's'), (3, 'Three', 2, null, 's');
  insert into genre values (1, 'epic'), (2, 'short');
  insert into book_genre values (1, 1), (1, 2), (3, 2);
  insert into shop values ('NO', 1, 'Oslo'), ('PL', 1, 'Lublin');
  insert into sale values (1, 'NO', 1), (2, 'PL', 1);

  create schema api;
  create view api.ranked as select id, rival from author;
  create view api.writer as select name as full_name, id as writer_id from author;
  create view api.renamed as select * from (select upper(title) as title, id as "book: {id}", author_id as "by }\\" from book) as inner_query;
  create view api.nested as select "book: {id}" as number, title, "by }\\" as writer from api.renamed where title <> '';
  create view api.joined as
    select b.id, b.title, w.full_name, b.author_id, (select g.id from genre g limit 1) as any_genre
    from book b join api.writer w on w.writer_id = b.author_id;
  create materialized view api.stored as with b as (select id, author_id from book) select id, author_id from b;
  create view api.label as select book_id, genre_id from book_genre;
  create view api.kind as select id, name from genre;
  create view api.changed as select id + 0 as id, author_id + 0 as author_id from book;
  create view api.either as select id, author_id from book union all select id, author_id from book;
  create view api.counted as select author_id, count(*) as books from book group by author_id;
  create view api.twice as select a.id as first_id, b.id as second_id from author a join author b on b.rival = a.id;
  create view api.outlet as select country as land, number, name from shop;
  create view api.receipt as select id, shop, country from sale;
  create view api.two_outlets as select a.country, a.number, b.country as c2 from shop a join shop b on b.name > a.name;
  create view api.half_outlet as select country, name from shop;
  create view api.imitation as select id as ":resno", author_id as "} :resno 1 :resname x :resorigtbl", title as "{" from book;
  create view api.loop_a as select id, author_id from book;
  create view api.loop_b as select id, author_id from api.loop_a;
  create or replace view api.loop_a as select id, author_id from api.loop_b;
`,
  postgrest({ includeSchemas: ['api'] }),
);

const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);

test('a view is related by the columns that it shows, renamed, nested, joined or stored', async () => {
  const { data: forward, error } = await client()
    .from('nested')
    .select('number, writer(full_name)')
    .order('number')
    .limit(2);
  expect(error ?? forward).toEqual([
    { number: 1, writer: { full_name: 'Ann' } },
    { number: 2, writer: { full_name: 'Ann' } },
  ]);
  const { data } = await client()
    .from('writer')
    .select('full_name, renamed(number:"book: {id}"), joined(id), stored(id), counted(books)')
    .order('"book: {id}"', { referencedTable: 'renamed' })
    .order('id', { referencedTable: 'joined' })
    .order('id', { referencedTable: 'stored' })
    .order('writer_id');
  expect(data).toEqual([
    {
      full_name: 'Ann',
      renamed: [{ number: 1 }, { number: 2 }],
      joined: [{ id: 1 }, { id: 2 }],
      stored: [{ id: 1 }, { id: 2 }],
      counted: [{ books: 2 }],
    },
    { full_name: 'Bob', renamed: [{ number: 3 }], joined: [{ id: 3 }], stored: [{ id: 3 }], counted: [{ books: 1 }] },
  ]);
});

test('a view of a junction connects views of its tables; a composite key is followed as a whole', async () => {
  expect(
    (await client().from('joined').select('id, kind(name)').order('id').order('name', { referencedTable: 'kind' }))
      .data,
  ).toEqual([
    { id: 1, kind: [{ name: 'epic' }, { name: 'short' }] },
    { id: 2, kind: [] },
    { id: 3, kind: [{ name: 'short' }] },
  ]);
  expect((await client().from('receipt').select('id, outlet(name)').order('id')).data).toEqual([
    { id: 1, outlet: { name: 'Oslo' } },
    { id: 2, outlet: { name: 'Lublin' } },
  ]);
});

test.each([
  ['an expression', 'changed?select=id,writer(full_name)'],
  ['a union', 'either?select=id,writer(full_name)'],
  ['a table that is not published', 'nested?select=number,author(name)'],
  ['a column that the view does not show', 'nested?select=number,writer!book_editor_id_fkey(full_name)'],
  ['half a composite key', 'half_outlet?select=country,receipt(id)'],
  ['views that select from each other', 'loop_a?select=id,writer(full_name)'],
])('no relationship: %s', async (_, target) => {
  expect(await ask(gateway, `GET /rest/${target}`)).toMatch(/^400\n.*PGRST200/s);
});

test('a table that a view shows twice is ambiguous until a hint names the column', async () => {
  const ambiguous = await ask(gateway, 'GET /rest/twice?select=first_id,nested(number)');
  expect(ambiguous).toMatch(/^300\n/);
  expect(ambiguous).toContain('"code":"PGRST201"');
  expect(ambiguous).toContain("Try changing 'nested' to one of the following: 'nested!first_id', 'nested!second_id'.");
  expect((await client().from('twice').select('nested!second_id(number)')).data).toEqual([{ nested: [{ number: 3 }] }]);
});

test('a composite key whose column a view shows twice is ambiguous', async () => {
  const relation = (columns: string): unknown => ({
    cardinality: 'one-to-many',
    embedding: 'two_outlets with receipt',
    relationship: `sale_country_shop_fkey using two_outlets(${columns}) and receipt(country, shop)`,
  });
  const { status, body } = await gateway.send('GET /rest/two_outlets?select=number,receipt(id)');
  expect(status).toBe(300);
  expect(JSON.parse(body)).toMatchObject({
    code: 'PGRST201',
    details: [relation('country, number'), relation('c2, number')],
  });
  const hinted = await ask(gateway, 'GET /rest/two_outlets?select=number,receipt!sale_country_shop_fkey(id)');
  expect(hinted).toMatch(/^300\n/);
});

test('the type Database lists the keys of all views at once', async () => {
  const { endpoints } = gateway.gateway;
  const tables = endpoints.flatMap(({ table }) => (table === null ? [] : [postgrestTable(table)]));
  const facts = keyFactsOf(tables[0]!)!;
  let reads = 0;
  const counted = {
    ...facts,
    get foreignKeys() {
      reads++;
      return facts.foreignKeys;
    },
  };
  keepKeyFacts(tables, counted);
  onTestFinished(() => keepKeyFacts(tables, facts));
  expect(databaseTypes(endpoints)).toContain('foreignKeyName: "sale_country_shop_fkey";');
  expect(reads).toBe(1);
});

test('views of one table are related by its own key, in the direction of the hint', async () => {
  const columns = 'id, rivals:writer!rival(full_name)';
  expect((await client().from('ranked').select(columns).order('id')).data).toEqual([
    { id: 1, rivals: null },
    { id: 2, rivals: { full_name: 'Ann' } },
  ]);
  expect((await client().from('writer').select('full_name, ranked(id)').order('writer_id')).data).toEqual([
    { full_name: 'Ann', ranked: [{ id: 2 }] },
    { full_name: 'Bob', ranked: [] },
  ]);
});

test('names that look like the parsed query of a view are names', async () => {
  expect(await ask(gateway, 'GET /rest/imitation?select=":resno",writer(full_name)&order=":resno"&limit=1')).toMatch(
    /\[\{":resno":1,"writer":\{"full_name":"Ann"\}\}\]$/,
  );
});

test('only columns of the select list itself are followed', async () => {
  const rows = await gateway.database.query(
    `select facts ->> 'column' as name, facts ->> 'table' as "table", facts ->> 'tableColumn' as "tableColumn"
    from (${viewColumnsSql}) keys (text) cross join lateral (select text::json) json (facts) where facts ->> 'view' = 'joined'`,
  );
  expect(rows).toEqual([
    { name: 'id', table: 'book', tableColumn: 'id' },
    { name: 'author_id', table: 'book', tableColumn: 'author_id' },
  ]);
});

const partly = useGateway(
  `
  create table owner (id int primary key, name text);
  create table pet (id int primary key, owner_id int references owner);
  create view keeper as select id, name from owner;
  create view animal as select id, owner_id from pet;
  comment on view animal is 'HTTP';
  comment on table owner is 'HTTP
authorize keeper';
  comment on view keeper is 'HTTP
authorize keeper';
  insert into owner values (1, 'Ann'); insert into pet values (1, 1);
`,
  { ...postgrest(), commentsMode: 'onlyWithHttpTag' },
);

test('a view does not lead to a table or view with another authorization, or to one that is not published', async () => {
  expect(await ask(partly, 'GET /rest/animal')).toContain('[{"id":1,"owner_id":1}]');
  for (const name of ['owner', 'keeper', 'owner_id', 'pet', 'pet_owner_id_fkey']) {
    expect(await ask(partly, `GET /rest/animal?select=id,${name}(*)`)).toContain('"code":"PGRST200"');
  }
});
