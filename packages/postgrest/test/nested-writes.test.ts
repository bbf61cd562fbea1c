import { functionsSource } from '@pgway/core';
import { postgrestSource } from '@pgway/postgrest';
import { startGateway, useGateway } from '@pgway/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ask as askGateway, postgrest, type Sent } from './support.ts';

/** Rows with their related rows in one body. */
const gateway = useGateway(
  `
  create table author (id int generated always as identity primary key, name text not null unique, country text default 'NO');
  create table book (
    id int generated always as identity primary key, title text not null check (title <> ''), pages int default 100,
    author_id int not null references author, editor_id int references author);
  create table review (
    id int generated always as identity primary key, book_id int not null references book, stars int, unique (book_id, stars));
  create table biography (author_id int primary key references author, text text);
  create table genre (id int primary key, name text);
  create table book_genre (book_id int references book, genre_id int references genre, primary key (book_id, genre_id));
  create table folder (id int generated always as identity primary key, name text, parent_id int references folder);
  create table shop (country text, number int, name text, primary key (country, number));
  create table sale (country text, number int, amount numeric(20, 2), foreign key (country, number) references shop);
  create table log (id int primary key, author_id int references author);
  insert into genre values (1, 'epic'), (2, 'short');
`,
  postgrest({ txEnd: 'commit-allow-override' }),
);

beforeEach(() =>
  gateway.database.query(`
    truncate author, book, review, biography, book_genre, folder, shop, sale, log restart identity;
    insert into author (name) values ('Ann')`),
);

const ask = (line: string, sent?: Sent): Promise<string> => askGateway(gateway, line, sent);
const prefer = (value: string): Pick<Sent, 'headers'> => ({ headers: { prefer: value } });
const returning = prefer('return=representation');
const rows = async (sql: string): Promise<unknown> =>
  (await gateway.database.query(sql)).map((row) => Object.values(row).join(' '));
const books = 'select b.title, b.pages, a.name from book b join author a on a.id = b.author_id order by b.id';

test('an object is inserted with the rows of several levels, which get the key of their outer row', async () => {
  expect(
    await ask('POST /rest/author?select=id,name,book!author_id(title,review(stars)),biography(text)', {
      ...returning,
      body: {
        name: 'Bob',
        'book!author_id': [
          { title: 'One', review: [{ stars: 5 }, { stars: 3 }] },
          { title: 'Two', review: [] },
          { title: 'Three', review: [{ stars: 4 }] },
        ],
        biography: { text: 'born' },
      },
    }),
  ).toMatchInlineSnapshot(`
    "201
    content-range: */*
    content-type: application/json; charset=utf-8
    preference-applied: return=representation

    [{"id":2,"name":"Bob","book":[{"title":"One","review":[{"stars":5}, 
     {"stars":3}]}, 
     {"title":"Two","review":[]}, 
     {"title":"Three","review":[{"stars":4}]}],"biography":{"text":"born"}}]"
  `);
  expect(await ask('GET /rest/author?select=id,name,book!author_id(title,review(stars)),biography(text)&id=eq.2'))
    .toMatchInlineSnapshot(`
      "200
      content-range: 0-0/*
      content-type: application/json; charset=utf-8

      [{"id":2,"name":"Bob","book":[{"title":"One","review":[{"stars":5}, 
       {"stars":3}]}, 
       {"title":"Two","review":[]}, 
       {"title":"Three","review":[{"stars":4}]}],"biography":{"text":"born"}}]"
    `);
});

test('of several outer rows, each has its own related rows', async () => {
  expect(
    await ask('POST /rest/author?select=name,biography(text),book!author_id(title)&order=name.desc', {
      ...returning,
      body: [
        { name: 'C', 'book!author_id': [{ title: 'c1' }, { title: 'c2' }] },
        { name: 'D', biography: { text: 'd' } },
        { name: 'E', 'book!author_id': [{ title: 'e1' }], biography: null },
      ],
    }),
  ).toMatchInlineSnapshot(`
    "201
    content-range: */*
    content-type: application/json; charset=utf-8
    preference-applied: return=representation

    [{"name":"E","biography":null,"book":[{"title":"e1"}]}, 
     {"name":"D","biography":{"text":"d"},"book":[]}, 
     {"name":"C","biography":null,"book":[{"title":"c1"}, 
     {"title":"c2"}]}]"
  `);
  const many = Array.from({ length: 300 }, (_, index) => ({
    name: `n${index}`,
    'book!author_id': Array.from({ length: index % 4 }, (_each, at) => ({ title: `n${index}-${at}` })),
  }));
  expect(await ask('POST /rest/author', { ...prefer('count=exact'), body: many })).toMatchInlineSnapshot(`
    "201
    content-range: */300
    preference-applied: count=exact"
  `);
  expect(
    await rows(`select count(*) as n, count(*) filter (where b.title like a.name || '-%') as own from book b
      join author a on a.id = b.author_id where a.name like 'n%'`),
  ).toEqual(['450 450']);
});

test('keys of several columns, of one table, and of values with all digits', async () => {
  expect(
    await ask('POST /rest/shop?select=name,sale(amount)', {
      ...returning,
      body: '{"country": "NO", "number": 1, "name": "Oslo", "sale": [{"amount": 123456789012345678.25}, {"amount": 1e0}]}',
    }),
  ).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"PGRST102","message":"Content-Type not acceptable: text/plain","details":null,"hint":null}"
  `);
  expect(
    await ask('POST /rest/folder?select=name,folder(name,folder(name))', {
      ...returning,
      body: { name: 'a', folder: [{ name: 'b', folder: [{ name: 'c' }] }, { name: 'd' }] },
    }),
  ).toMatchInlineSnapshot(`
    "201
    content-range: */*
    content-type: application/json; charset=utf-8
    preference-applied: return=representation

    [{"name":"a","folder":[{"name":"b","folder":[{"name":"c"}]}, 
     {"name":"d","folder":[]}]}]"
  `);
});

describe('columns of the request are the only keys of the outermost rows that count', () => {
  const body = [
    { name: 'Bob', country: 'SE', book: [{ title: 'One', pages: 7 }], 'book!author_id': [{ title: 'Two' }] },
    { name: 'Cid', 'book!author_id': [{ title: 'Three' }] },
  ];

  test('a column and related rows that are not listed are left out, and rows may have different keys', async () => {
    const line = 'POST /rest/author?columns=name,book!author_id&select=name,country,book!author_id(title,pages)';
    expect(await ask(line, { ...prefer('return=representation, missing=default'), body })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: missing=default, return=representation

      [{"name":"Bob","country":"NO","book":[{"title":"Two","pages":100}]}, 
       {"name":"Cid","country":"NO","book":[{"title":"Three","pages":100}]}]"
    `);
    expect(await rows(books)).toEqual(['Two 100 Bob', 'Three 100 Cid']);
  });

  test('without related rows in the list, none are inserted', async () => {
    const line = 'POST /rest/author?columns=name,country&select=name,country';
    expect(await ask(line, { ...returning, body })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: return=representation

      [{"name":"Bob","country":"SE"}, 
       {"name":"Cid","country":null}]"
    `);
    expect(await rows(books)).toEqual([]);
  });

  test('listed related rows that no row has are none', async () => {
    const line = 'POST /rest/author?columns=name,book!author_id&select=name,country';
    expect(await ask(line, { ...returning, body: [{ name: 'Bob', country: 'SE' }] })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: return=representation

      [{"name":"Bob","country":"NO"}]"
    `);
    const csv = { prefer: 'return=representation', 'content-type': 'text/csv' };
    expect(await ask(line, { headers: csv, body: 'name,book!author_id\nCid,1' })).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"PGRST204","message":"Could not find the 'book!author_id' column of 'author' in the schema cache","details":null,"hint":null}"
    `);
  });
});

describe('preferences', () => {
  test('missing=default counts for each level, whose rows may have different keys', async () => {
    const body = { name: 'Bob', 'book!author_id': [{ title: 'One' }, { title: 'Two', pages: 7 }] };
    expect(await ask('POST /rest/author', { body })).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"PGRST102","message":"All object keys must match","details":"Some rows have no 'pages'","hint":null,"pointer":"/book!author_id"}"
    `);
    expect(await ask('POST /rest/author', { ...prefer('missing=default'), body })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      preference-applied: missing=default"
    `);
    expect(await rows(books)).toEqual(['One 100 Bob', 'Two 7 Bob']);
  });

  test('an upsert merges rows of each level by its own columns', async () => {
    const send = (name: string, stars: number): Promise<string> =>
      ask(
        'POST /rest/author?on_conflict=name&book!author_id.on_conflict=id&book!author_id.review.on_conflict=book_id,stars',
        {
          ...prefer('resolution=merge-duplicates, return=headers-only'),
          body: { name, country: 'SE', 'book!author_id': [{ title: 'One', review: [{ stars }] }] },
        },
      );
    expect(await send('Ann', 1)).toMatchInlineSnapshot(`
      "200
      content-range: */*
      location: /rest/author?id=eq.1
      preference-applied: resolution=merge-duplicates, return=headers-only"
    `);
    expect(await send('Bea', 1)).toMatchInlineSnapshot(`
      "201
      content-range: */*
      location: /rest/author?id=eq.3
      preference-applied: resolution=merge-duplicates, return=headers-only"
    `);
    const shop = (name: string, amount: number): Sent => ({
      ...prefer('resolution=merge-duplicates, return=representation'),
      body: { country: 'NO', number: 1, name, sale: [{ amount }] },
    });
    expect(await ask('POST /rest/shop?select=name,sale(amount)', shop('Oslo', 1))).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: resolution=merge-duplicates, return=representation

      [{"name":"Oslo","sale":[{"amount":1.00}]}]"
    `);
    expect(await ask('POST /rest/shop?select=name,sale(amount)', shop('Bergen', 2))).toMatchInlineSnapshot(`
      "200
      content-range: */*
      content-type: application/json; charset=utf-8
      preference-applied: resolution=merge-duplicates, return=representation

      [{"name":"Bergen","sale":[{"amount":1.00}, 
       {"amount":2.00}]}]"
    `);
    expect(
      await ask('POST /rest/shop', {
        ...prefer('resolution=ignore-duplicates'),
        body: { country: 'NO', number: 1, name: 'x', sale: [{ amount: 1 }] },
      }),
    ).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"PGRST102","message":"Rows of 'shop' with related rows cannot be left out","details":"resolution=ignore-duplicates is for rows without related rows","hint":null,"pointer":""}"
    `);
  });

  test('singular responses, addresses, and a rollback', async () => {
    const body = { name: 'Bob', 'book!author_id': [{ title: 'One' }] };
    expect(
      await ask('POST /rest/author?select=name', {
        headers: { prefer: 'return=representation, tx=rollback', accept: 'application/vnd.pgrst.object+json' },
        body,
      }),
    ).toMatchInlineSnapshot(`
      "201
      content-range: */*
      content-type: application/vnd.pgrst.object+json; charset=utf-8
      preference-applied: return=representation, tx=rollback

      {"name":"Bob"}"
    `);
    expect(await rows(books)).toEqual([]);
    expect(await ask('POST /rest/author', { ...prefer('return=headers-only'), body })).toMatchInlineSnapshot(`
      "201
      content-range: */*
      location: /rest/author?id=eq.3
      preference-applied: return=headers-only"
    `);
    expect(await rows(books)).toEqual(['One 100 Bob']);
  });
});

describe('errors have the JSON Pointer of the value', () => {
  test.each([
    ['an unknown key', { name: 'B', 'book!author_id': [{ title: 'a' }, { titel: 'b' }] }],
    ['a column of the foreign key', { name: 'B', 'book!author_id': [{ title: 'a', author_id: 1 }] }],
    [
      'a table with the foreign key on the other side',
      { name: 'B', 'book!author_id': { title: 'a', genre: [{ id: 9 }] } },
    ],
    ['two relationships', { name: 'B', book: [{ title: 'a' }] }],
    ['no object', { name: 'B', 'book!author_id': [{ title: 'a' }, 7] }],
    ['a violated check, in one of two rows', { name: 'B', 'book!author_id': [{ title: 'a' }, { title: '' }] }],
    ['a violated check, in the only row', { name: 'B', 'book!author_id': [{ title: '' }] }],
    ['a value of another type', [{ name: 'B', 'book!author_id': [{ title: 'a', review: [{ stars: 'x' }] }] }]],
    [
      'a missing value, in one of two rows',
      {
        name: 'B',
        'book!author_id': [
          { title: 'a', review: [{ stars: 1 }] },
          { title: null, review: [{ stars: 1 }] },
        ],
      },
    ],
    [
      'a duplicate within a row, in one of two rows',
      {
        name: 'B',
        'book!author_id': [
          { title: 'a', review: [{ stars: 1 }, { stars: 2 }] },
          { title: 'b', review: [{ stars: 3 }, { stars: 3 }] },
        ],
      },
    ],
    [
      'a reference to no row, in one of two rows',
      {
        name: 'B',
        'book!author_id': [
          { title: 'a', editor_id: null },
          { title: 'b', editor_id: 99 },
        ],
      },
    ],
    [
      'a duplicate of one of two outer rows',
      [
        { name: 'B', 'book!author_id': [{ title: 'a' }] },
        { name: 'Ann', 'book!author_id': [{ title: 'b' }] },
      ],
    ],
    [
      'two rows that may be the duplicate',
      [
        { name: 'B', 'book!author_id': { title: 'a' } },
        { name: 'B', 'book!author_id': [] },
      ],
    ],
    ['a duplicate in the outer row', { name: 'Ann', 'book!author_id': [{ title: 'a' }] }],
  ])('%s', async (_, body) => {
    expect(await ask('POST /rest/author', { body })).toMatchSnapshot();
    expect(await rows(books)).toEqual([]);
    expect(await rows('select name from author')).toEqual(['Ann']);
  });

  test('a trigger that leaves rows out', async () => {
    await gateway.database.query(`
      create function skip() returns trigger language plpgsql as $$ begin return case when new.name = 'skip' then null else new end; end $$;
      create trigger skip before insert on author for each row execute function skip()`);
    const body = ['a', 'skip', 'b'].map((name) => ({ name, 'book!author_id': [{ title: name }] }));
    expect(await ask('POST /rest/author', { body })).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"23000","message":"Rows were not inserted, so that their related rows have no outer row","details":"The database has inserted 2 of the rows","hint":"A trigger or a rule leaves rows out: send them without related rows","pointer":""}"
    `);
    await gateway.database.query('drop trigger skip on author');
    expect(await rows(books)).toEqual([]);
  });

  test('more kinds of related rows than a request may have', async () => {
    let folder: object = { name: 'last' };
    for (let depth = 0; depth < 30; depth++) folder = { name: 'f', folder };
    expect(await ask('POST /rest/folder', { body: folder })).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"PGRST102","message":"There are related rows of more than 29 kinds","details":"Send them in several requests","hint":null,"pointer":"/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder"}"
    `);
  });
});

test('each level is a statement, whose text does not depend on the number of rows', async () => {
  const own = await startGateway(
    `create table parent (id int generated always as identity primary key, a text);
     create table child (id int generated always as identity primary key, b text default 'x', parent_id int references parent);
     create function prepared() returns text[] language sql as
       $$ select array_agg(statement order by statement) from pg_prepared_statements where statement like '%insert into%' and statement not like '%prepared%' $$;
     comment on function prepared() is 'HTTP POST /prepared'`,
    { routineSources: [functionsSource(), postgrestSource()], commentsMode: 'parseAll', poolSize: 1 },
  );
  onTestFinished(() => own.close());
  for (const count of [1, 2, 3, 4]) {
    const child = Array.from({ length: count }, () => ({ b: 'b' }));
    // In order: a statement is prepared when it comes again.
    expect(await askGateway(own, 'POST /rest/parent', { body: { a: 'a', child } })).toContain('201');
  }
  expect(JSON.parse((await own.send('POST /prepared')).body)).toMatchInlineSnapshot(`
    [
      "insert into "public"."child" as "r" ("b", "parent_id") select "body"."b", "outer"."id" from rows from (pg_catalog.json_array_elements($1::pg_catalog.json), pg_catalog.unnest($2::pg_catalog.int8[])) with ordinality as "item" ("row", "outer", "position") cross join lateral pg_catalog.json_to_record("item"."row") as "body" ("b" "pg_catalog"."text") join (pg_catalog.json_array_elements(pg_catalog.current_setting(E'pgway.nested_0')::pg_catalog.json) with ordinality as "key" ("row", "position") cross join lateral pg_catalog.json_to_record("key"."row") as "outer" ("id" "pg_catalog"."int4")) on "key"."position" operator(pg_catalog.=) "item"."outer" order by "item"."position"",
      "with "kept" as (insert into "public"."parent" as "r" ("a") select "body"."a" from pg_catalog.json_array_elements($1::pg_catalog.json) with ordinality as "item" ("row", "position") cross join lateral pg_catalog.json_to_record("item"."row") as "body" ("a" "pg_catalog"."text") order by "item"."position" returning "r"."id") select pg_catalog.set_config(E'pgway.nested_0', coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(E'id', "kept"."id"))::pg_catalog.text, '[]'), true), case when pg_catalog.count(*) operator(pg_catalog.<>) $2::pg_catalog.int8 then pg_catalog.concat($3::pg_catalog.text, ':', pg_catalog.count(*))::pg_catalog.int4 end from "kept"",
    ]
  `);
});

test('a table whose inserts are not published, or whose comment demands more of them, is not written', async () => {
  const own = await startGateway(
    `create table parent (id int primary key);
     create table unpublished (id int, parent_id int references parent);
     create table other (id int, parent_id int references parent);
     create table guarded (id int, parent_id int references parent);
     comment on table parent is 'HTTP';
     comment on table other is 'HTTP';
     comment on table guarded is E'HTTP\ninvalidates public.parent';`,
    { ...postgrest(), commentsMode: 'onlyWithHttpTag' },
  );
  onTestFinished(() => own.close());
  const send = (key: string): Promise<string> =>
    askGateway(own, 'POST /rest/parent', { body: { id: 1, [key]: [{ id: 1 }] } });
  expect(await send('unpublished')).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"PGRST204","message":"Could not find the 'unpublished' column of 'parent' in the schema cache","details":null,"hint":null}"
  `);
  expect(await send('guarded')).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"PGRST102","message":"Rows of 'guarded' cannot be inserted with those of 'parent'","details":"The table has no POST, or its comment has other idempotency keys or invalidates other responses","hint":null,"pointer":"/guarded"}"
  `);
  expect(await send('other')).toMatchInlineSnapshot(`
    "201
    content-range: */*"
  `);
});

test('a function before the request runs before the first level, and errors have the pointer of their level', async () => {
  const own = await startGateway(
    `create table parent (id int generated always as identity primary key, a text default current_setting('app.a', true));
     create table child (id int check (id > 0), parent_id int references parent);
     create function before() returns void language sql as $$ select set_config('app.a', 'before', true) $$;`,
    postgrest({ preRequest: 'public.before' }),
  );
  onTestFinished(() => own.close());
  const send = (id: number): Promise<string> =>
    askGateway(own, 'POST /rest/parent?select=a,child(id)', {
      ...prefer('return=representation'),
      body: { child: [{ id }] },
    });
  expect(await send(1)).toMatchInlineSnapshot(`
    "201
    content-range: */*
    content-type: application/json; charset=utf-8
    preference-applied: return=representation

    [{"a":"before","child":[{"id":1}]}]"
  `);
  expect(await send(0)).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"23514","message":"new row for relation \\"child\\" violates check constraint \\"child_id_check\\"","details":null,"hint":null,"pointer":"/child/0"}"
  `);
});
