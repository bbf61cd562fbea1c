import { postgrestSource } from '@pgway/postgrest';
import { describe, expect, test } from 'vitest';
import { Problem } from '@pgway/core';
import {
  conditionsOf,
  createReadModel,
  decodeForeignKeys,
  decodeViewColumns,
  foreignKeysSql,
  parseQueryString,
  parseReadQuery,
  type ReadModel,
  relationKey,
  sql,
  SqlText,
  viewColumnsSql,
  writeColumns,
  writeOrder,
  writeWhere,
} from '@pgway/core/internal';
import { countSql, writeRows, writtenRowSql } from '../src/read/select-sql.ts';
import { toReadProblem } from '../src/read-problem.ts';
import { useCatalog } from '../../core/test/catalog/support.ts';

/* The statements of reads in the dialect of PostgREST, run on the database. */

const catalog = useCatalog(`
  create type mood as enum ('sad', 'ok', 'happy');
  create table country (code text primary key, name text not null);
  insert into country values ('NO', 'Norway'), ('PL', 'Poland');
  create table author (id int primary key, name text not null, country text references country, rival int references author, mood mood);
  insert into author values (1, 'Sigrid', 'NO', null, 'happy'), (2, 'Olga', 'PL', 1, 'ok'), (3, 'Nobody, Jr.', null, 1, null);
  create table passport (author int primary key references author, number text);
  insert into passport values (1, 'N1');
  create table book (
    id int primary key, title text not null, author int not null references author, translator int constraint translated_by references author,
    price numeric(8, 2), data jsonb not null default '{}', tags text[] not null default '{}', sold int4range, published date);
  insert into book values
    (1, 'Kristin', 1, 2, 20.50, '{"pages": 900, "lang": {"code": "no"}, "awards": ["A", "B"]}', '{novel,long}', '[1,10)', '1920-01-01'),
    (2, 'Jenny', 1, null, 9.99, '{"pages": 300}', '{novel}', '[10,20)', '1911-05-01'),
    (3, 'Flights', 2, null, null, '{"pages": 400, "lang": {"code": "pl"}}', '{}', null, '2007-01-01');
  create table genre (id int primary key, name text not null);
  insert into genre values (1, 'epic'), (2, 'short');
  create table book_genre (book int references book, genre int references genre, primary key (book, genre));
  insert into book_genre values (1, 1), (1, 2), (3, 2);
  create table place (id int primary key, spot point, facts json);
  insert into place values (1, '(1,2)', '{"a": 1}');
  create extension citext;
  create domain fruit as citext;
  create table word (id int primary key, tag citext, fruit fruit, fixed char(3), facts json, spot point);
  insert into word values (1, 'Red', 'Plum', 'a', '{"a": 1}', '(1,2)'), (2, 'blue', 'pear', 'abc', '7', '(3,4)');
  create table person (id int primary key);
  create table follows (follower int references person, followed int references person, primary key (follower, followed));
  insert into person values (1), (2), (3);
  insert into follows values (1, 2), (1, 3), (2, 3);
  create table "odd ""name" ("a.b" int primary key, "select" text, "ü, x" text);
  insert into "odd ""name" values (1, 'x', 'y');
`);

let model: ReadModel | null = null;
const limits = { maxRows: 100, allowAggregates: true };

async function readModel(): Promise<ReadModel> {
  const relations = (await catalog.tables(postgrestSource({ crudTypes: 'select' }))).map(({ schema, name, table }) => ({
    schema,
    name,
    columns: new Map(table!.columns.map((column) => [column.name, column])),
  }));
  return createReadModel(relations, {
    foreignKeys: decodeForeignKeys(await catalog.query(foreignKeysSql)),
    viewColumns: decodeViewColumns(await catalog.query(viewColumnsSql)),
    representations: new Map(),
  });
}

/** Returns the rows, their number and the number of all rows; or code, message, details and hint of the problem. */
async function get(target: string): Promise<unknown> {
  model ??= await readModel();
  const [name, search = ''] = target.split(/\?(.*)/s);
  const relation = model.relations.get(relationKey({ schema: 'public', name: decodeURIComponent(name!) }))!;
  try {
    const read = { model, relation, query: parseReadQuery(parseQueryString(search)), limits };
    const run = async (part: SqlText): Promise<readonly (readonly (string | null)[])[]> => {
      const statement = part.finish('');
      return catalog.query(statement.sql(), statement.values);
    };
    const texts = new SqlText();
    writeRows(texts, read, 'json');
    const rows = (await run(texts)).map(([text]) => JSON.parse(text!) as unknown);
    const [counted] = await run(sql`select ${countSql(read)}`);
    const total = Number(counted![0]);
    return total === rows.length ? rows : [rows, total];
  } catch (fault) {
    const error = toReadProblem(fault);
    if (!(error instanceof Problem)) throw error;
    const { code, details, hint } = error.members;
    return [code, error.title, details, hint].filter((part) => part !== null);
  }
}

const ids = async (search: string): Promise<unknown> => {
  const rows = await get(`book?select=id&order=id&${search}`);
  return Array.isArray(rows) && typeof rows[0] !== 'string' ? (rows as { id: number }[]).map(({ id }) => id) : rows;
};

describe('select', () => {
  test('all columns, some, with aliases, casts and JSON paths', async () => {
    expect(await get('country')).toEqual([
      { code: 'NO', name: 'Norway' },
      { code: 'PL', name: 'Poland' },
    ]);
    expect(
      await get(
        'book?select=id,name:title,price::text,pages:data->pages,data->lang->>code,first:data->awards->>0,tags->1,*&id=eq.1',
      ),
    ).toEqual([
      {
        id: 1,
        name: 'Kristin',
        price: 20.5,
        pages: 900,
        code: 'no',
        first: 'A',
        tags: ['novel', 'long'],
        title: 'Kristin',
        author: 1,
        translator: 2,
        data: { pages: 900, lang: { code: 'no' }, awards: ['A', 'B'] },
        sold: '[1,10)',
        published: '1920-01-01',
      },
    ]);
    expect(await get('book?select=price::text,n:id::double%20precision&id=eq.1')).toEqual([{ price: '20.50', n: 1 }]);
    expect(await get('odd%20%22name?select="a.b",select,"ü, x"&"a.b"=eq.1&"ü, x"=eq.y')).toEqual([
      { 'a.b': 1, select: 'x', 'ü, x': 'y' },
    ]);
    expect(await get('country?select=&limit=1')).toEqual([[{}], 2]);
  });

  test('related rows in both directions, through a junction, nested', async () => {
    expect(
      await get(
        'book?select=title,author:author!author(name,country(name)),genre(name)&order=id&genre.order=name.desc',
      ),
    ).toEqual([
      {
        title: 'Kristin',
        author: { name: 'Sigrid', country: { name: 'Norway' } },
        genre: [{ name: 'short' }, { name: 'epic' }],
      },
      { title: 'Jenny', author: { name: 'Sigrid', country: { name: 'Norway' } }, genre: [] },
      { title: 'Flights', author: { name: 'Olga', country: { name: 'Poland' } }, genre: [{ name: 'short' }] },
    ]);
    expect(
      await get(
        'author?select=name,books:book!author(title,genre(name)),translated:book!translated_by(title),passport(number)' +
          '&books.order=title&books.limit=1&books.genre.name=eq.epic&order=id',
      ),
    ).toEqual([
      {
        name: 'Sigrid',
        books: [{ title: 'Jenny', genre: [] }],
        translated: [],
        passport: { number: 'N1' },
      },
      { name: 'Olga', books: [{ title: 'Flights', genre: [] }], translated: [{ title: 'Kristin' }], passport: null },
      { name: 'Nobody, Jr.', books: [], translated: [], passport: null },
    ]);
  });

  test('a foreign key, its column or a hint select one of several relationships', async () => {
    expect(await get('book?select=translator(name),translated_by(id)&id=eq.1')).toEqual([
      { translator: { name: 'Olga' }, translated_by: { id: 2 } },
    ]);
    expect(await get('author?select=rival(name),author!rival(name)&id=lte.2&order=id')).toEqual([
      { rival: null, author: [{ name: 'Olga' }, { name: 'Nobody, Jr.' }] },
      { rival: { name: 'Sigrid' }, author: [] },
    ]);
    // Within one table, its name means the rows that reference a row.
    expect(await get('author?select=id,children:author(id)&id=eq.1')).toEqual([
      { id: 1, children: [{ id: 2 }, { id: 3 }] },
    ]);
  });

  test('people related with people by a junction', async () => {
    expect(await get('person?select=id,person!follower(id)&order=id&person.order=id')).toEqual([
      { id: 1, person: [{ id: 2 }, { id: 3 }] },
      { id: 2, person: [{ id: 3 }] },
      { id: 3, person: [] },
    ]);
    expect(await get('person?select=id,person(id)')).toMatchObject([
      'PGRST201',
      expect.any(String),
      [{ cardinality: 'many-to-many' }, { cardinality: 'many-to-many' }],
      expect.stringContaining(`'person!follows_followed_fkey', 'person!follows_follower_fkey'`),
    ]);
  });

  test('inner joins leave out rows; spread puts columns into the outer row; count counts', async () => {
    expect(await get('author?select=name,country!inner(name)&country.name=eq.Norway')).toEqual([
      { name: 'Sigrid', country: { name: 'Norway' } },
    ]);
    expect(await get('author?select=name,book!author!inner()&book.title=like.F*')).toEqual([{ name: 'Olga' }]);
    expect(
      await get(
        'book?select=title,...author!book_author_fkey(writer:name,country,...rival(rival:name),book!author())&id=eq.3',
      ),
    ).toEqual([{ title: 'Flights', writer: 'Olga', country: 'PL', rival: 'Sigrid' }]);
    expect(await get('author?select=id,book!author(count)&order=id')).toEqual([
      { id: 1, book: [{ count: 2 }] },
      { id: 2, book: [{ count: 1 }] },
      { id: 3, book: [{ count: 0 }] },
    ]);
    expect(await get('book?select=n:count()')).toEqual([{ n: 3 }]);
  });

  test('names that are not there or not clear, with what there is', async () => {
    expect(await get('book?select=titel')).toEqual([
      '42703',
      'column book.titel does not exist',
      'Perhaps you meant to reference the column "book.title".',
    ]);
    expect(await get('book?select=nothing')).toEqual(['42703', 'column book.nothing does not exist']);
    expect(await get('book?select=country(name)')).toEqual([
      'PGRST200',
      `Could not find a relationship between 'book' and 'country' in the schema cache`,
      `Searched for a foreign key relationship between 'book' and 'country' in the schema 'public', but no matches were found.`,
    ]);
    expect(await get('book?select=autor(name)')).toMatchObject({ 3: "Perhaps you meant 'author' instead of 'autor'." });
    // A partition, for example.
    expect(await get('book?select=author_before_1990(name)')).toMatchObject({
      3: "Perhaps you meant 'author' instead of 'author_before_1990'.",
    });
    // A relation is looked for before the columns of all levels, and before filters and order.
    expect(await get('book?select=nothing,autor(name)&nothing=eq.1&order=nothing')).toMatchObject({ 0: 'PGRST200' });
    expect(await get('book?select=author!book_author_fkey(nothing,pen(*)),title')).toMatchObject({ 0: 'PGRST200' });
    expect(await get('book?select=author!writer(name)')).toMatchObject({
      2: expect.stringContaining(`using the hint 'writer' in the schema 'public'`) as string,
    });
    expect(await get('author?select=book(title)')).toEqual([
      'PGRST201',
      `Could not embed because more than one relationship was found for 'author' and 'book'`,
      [
        {
          cardinality: 'one-to-many',
          embedding: 'author with book',
          relationship: 'book_author_fkey using author(id) and book(author)',
        },
        {
          cardinality: 'one-to-many',
          embedding: 'author with book',
          relationship: 'translated_by using author(id) and book(translator)',
        },
      ],
      `Try changing 'book' to one of the following: 'book!book_author_fkey', 'book!translated_by'. Find the desired relationship in the 'details' key.`,
    ]);
    expect(await get('book?select=id&authors.name=eq.x')).toEqual([
      'PGRST108',
      `'authors' is not an embedded resource in this request`,
      `Verify that 'authors' is included in the 'select' query parameter.`,
    ]);
  });

  test('what cannot be parsed, with the position', async () => {
    const message = 'The value of "select" cannot be parsed';
    expect(await get('book?select=id,')).toEqual(['PGRST100', message, 'a name is expected at position 3']);
    expect(await get('book?select=author(name')).toEqual(['PGRST100', message, '")" is expected at position 11']);
    expect(await get('book?select=id::regclass')).toMatchObject(['42704', 'type "regclass" does not exist']);
    expect(await get('book?select=price.median()')).toMatchObject([
      'PGRST100',
      message,
      expect.stringContaining('an aggregate function such as sum() is expected'),
    ]);
    expect(await get(`book?select=${'x'.repeat(64)}:id`)).toMatchObject([
      'PGRST100',
      message,
      expect.stringContaining('more than 63 bytes'),
    ]);
    expect(await get(`book?select=${'a('.repeat(10)}id${')'.repeat(10)}`)).toEqual([
      'PGRST100',
      message,
      'relations are nested deeper than 5 levels',
    ]);
    expect(await get(`book?select=${Array.from({ length: 501 }, () => 'id').join()}`)).toEqual([
      'PGRST100',
      message,
      'there are more than 500 items',
    ]);
    expect(await get(`author?select=${Array.from({ length: 31 }, (_, n) => `a${n}:country(name)`).join()}`)).toEqual([
      'PGRST100',
      message,
      'there are more than 30 relations',
    ]);
    expect(await get('book?select="":id')).toEqual(['PGRST100', message, 'a name is expected at position 2']);
    expect(await get('book?select=data->""')).toEqual(['PGRST100', message, 'a key is expected at position 8']);
    expect(await get(`book?select=data->${'k'.repeat(64)}`)).toMatchObject([
      'PGRST100',
      message,
      expect.stringContaining('give a shorter alias'),
    ]);
    expect(await get(`book?select=${Array.from({ length: 120 }, () => '*').join()}`)).toEqual([
      'PGRST100',
      message,
      'there are more than 1000 columns',
    ]);
    expect(await get('book?select=id,...author!author(name,name)')).toEqual([
      'PGRST100',
      message,
      '"name" appears twice in ...author',
    ]);
    expect(await get('book?select=id&select=title')).toEqual(['PGRST100', message, 'it is given more than once']);
  });
});

describe('filters', () => {
  test.each([
    ['id=eq.2', [2]],
    ['id=neq.2', [1, 3]],
    ['id=not.eq.2', [1, 3]],
    ['id=gt.1&id=lt.3', [2]],
    ['id=gte.2', [2, 3]],
    ['id=lte.1', [1]],
    ['title=like.*n*', [1, 2]],
    ['title=ilike.*K%25', [1]],
    ['title=like(any).{J*,F*}', [2, 3]],
    ['title=like(all).{*e*,*y}', [2]],
    ['title=match.^J', [2]],
    ['title=imatch.^j', [2]],
    ['id=in.(1,3)', [1, 3]],
    ['title=in.("Jenny","a,b\\"c",Flights)', [2, 3]],
    ['id=in.()', []],
    ['id=eq(any).{1,2}', [1, 2]],
    ['price=is.null', [3]],
    ['price=not.is.null', [1, 2]],
    ['price=is.not_null', [1, 2]],
    ['translator=isdistinct.2', [2, 3]],
    ['tags=cs.{novel,long}', [1]],
    ['tags=cd.{novel}', [2, 3]],
    ['tags=ov.{long,x}', [1]],
    ['data=cs.{"pages":300}', [2]],
    ['sold=cs.[2,3]', [1]],
    ['sold=sl.[10,11)', [1]],
    ['sold=sr.[1,10)', [2]],
    ['sold=nxr.[1,10)', [1]],
    ['sold=nxl.[10,20)', [2]],
    ['sold=adj.[1,10)', [2]],
    ['title=fts(simple).jenny|flights', [2, 3]],
    ['title=plfts.jenny', [2]],
    ['title=phfts(english).jenny', [2]],
    ['title=wfts.jenny or kristin', [1, 2]],
    ['data->pages=gt.350', [1, 3]],
    ['data->lang->>code=in.(pl)', [3]],
    ['data->awards->>1=eq.B', [1]],
    ['data->>none=is.null', [1, 2, 3]],
    ['published=gte.1920-01-01', [1, 3]],
    ['or=(id.eq.1,id.eq.3)', [1, 3]],
    ['or=(id.eq.1,and(id.gt.1,title.like.J*),not.or(id.lt.3,id.gt.3))', [1, 2, 3]],
    ['not.or=(id.eq.1,id.eq.3)', [2]],
    ['and=(id.in.(1,2),title.not.in.("Jenny",x))', [1]],
    ['or=(tags.cs.{long,novel},sold.cs.[11,12],title.eq."a,b)")', [1, 2]],
    ['or=(data->lang->>code.eq.pl,title.like(any).{J*})', [2, 3]],
  ])('%s', async (search, expected) => {
    expect(await ids(search)).toEqual(expected);
  });

  test.each([
    ['tag=like.r*', [1]],
    ['tag=ilike.*BL*', [2]],
    ['tag=in.(RED,x)', [1]],
    ['fruit=like(any).{p*m,x}', [1]],
    ['fruit=gt.PEAR', [1]],
    ['tag=match.^r', [1]],
    ['fixed=like.a', []],
    ['fixed=like.a*', [1, 2]],
    ['fixed=eq.a', [1]],
    ['facts=in.("{\\"a\\":1}",8)', [1]],
    ['spot=eq.( 1, 2)', [1]],
    ['spot=in.("(3,4)")', [2]],
    ['facts=gt.1', ['42883', '"gt" does not exist for column "facts" of type json']],
    ['spot=lt.(1,2)', ['42883', '"lt" does not exist for column "spot" of type point']],
  ])('operators are those of the type of the column: %s', async (search, expected) => {
    const rows = await get(`word?select=id&order=id&${search}`);
    const isProblem = typeof (rows as unknown[])[0] === 'string';
    expect(isProblem ? rows : (rows as { id: number }[]).map(({ id }) => id)).toEqual(expected);
  });

  test('the default position of NULLs is not part of the statement', async () => {
    model ??= await readModel();
    const relation = model.relations.get(relationKey({ schema: 'public', name: 'book' }))!;
    const statement = (order: string): string => {
      const sql = new SqlText();
      writeRows(
        sql,
        { model: model!, relation, query: parseReadQuery(parseQueryString(`order=${order}`)), limits },
        'json',
      );
      return sql.finish('').sql();
    };
    expect(statement('price.desc.nullsfirst')).toBe(statement('price.desc'));
    expect(statement('price.nullslast')).toBe(statement('price'));
    expect(statement('price.nullsfirst')).toContain(' order by "t1"."price" nulls first limit ');
  });

  test('an enum, text with a comma, null in every place', async () => {
    expect(await get('author?select=id&mood=gt.sad&order=id')).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await get('author?select=id&name=eq.Nobody, Jr.')).toEqual([{ id: 3 }]);
    expect(await get('author?select=id&name=eq.null')).toEqual([]);
  });

  test.each([
    ['id=2', 'PGRST100', '"2" is not an operator'],
    ['title=lke.x', 'PGRST100', '"lke" is not an operator; did you mean like? the operators are eq'],
    ['id=like2.x', 'PGRST100', 'is not an operator; did you mean like? the operators are eq, neq'],
    ['id=eq', 'PGRST100', '"." is expected after the operator "eq"'],
    ['id=is.maybe', 'PGRST100', '"is" takes null, not_null, true, false, unknown'],
    ['id=is.true', '42883', ''],
    ['title=cs.{a}', '42883', ''],
    ['id=sl.[1,2)', '42883', ''],
    ['id=cs(any).{1}', 'PGRST100', 'does not take "(any)"'],
    ['id=in.1,2', 'PGRST100', '"(" is expected at position 3'],
    ['nothing=eq.1', '42703', ''],
    ['data->>pages=cs.1', '42883', ''],
    ['data->pages=ov.{1}', '42883', ''],
    ['title=eq.%00', 'PGRST100', 'zero byte'],
    ['or=(id.eq.1', 'PGRST100', '")" is expected'],
    ['or=id.eq.1', 'PGRST100', '"(" is expected'],
    ['limit=-1', 'PGRST103', 'Limit should be greater than or equal to zero.'],
    ['limit=x', 'PGRST100', 'a number from 0 on is expected'],
    ['data->>--1=eq.1', 'PGRST100', 'a number is expected after "-"'],
    ['order=id.up', 'PGRST100', ''],
    [`or=${'(or'.repeat(17)}(id.eq.1)${')'.repeat(17)}`, 'PGRST100', 'nested deeper than 16'],
    [Array.from({ length: 101 }, () => 'id=eq.1').join('&'), 'PGRST100', 'more than 100 filters'],
    [`or=(${Array.from({ length: 101 }, () => 'id.eq.1').join()})`, 'PGRST100', 'more than 100 filters'],
  ])('refused: %.60s', async (search, code, details) => {
    const [givenCode, message, givenDetails] = (await get(`book?select=id&${search}`)) as string[];
    expect([givenCode, `${message} ${givenDetails}`]).toEqual([code, expect.stringContaining(details)]);
  });
});

test('related rows that are there, or not', async () => {
  expect(await get('author?select=id,passport(number)&passport=is.null&order=id')).toMatchObject([
    { id: 2 },
    { id: 3 },
  ]);
  expect(await get('author?select=id,books:book!author()&books=not.is.null&order=id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(
    await get('author?select=id,passport(),books:book!author()&or=(passport.not.is.null,books.is.null)&order=id'),
  ).toEqual([{ id: 1 }, { id: 3 }]);
  expect(await get('author?select=id,book!author!inner(count)&order=id')).toEqual([
    { id: 1, book: [{ count: 2 }] },
    { id: 2, book: [{ count: 1 }] },
  ]);
  expect(await get('author?select=id,passport(number)&passport=eq.1')).toMatchObject([
    'PGRST100',
    expect.any(String),
    'related rows such as "passport" can only be compared by is.null and is.not_null',
  ]);
});

test('and, or and not of the same conditions are different statements', async () => {
  model ??= await readModel();
  const relation = model.relations.get(relationKey({ schema: 'public', name: 'book' }))!;
  const keys = ['and', 'or', 'not.and', 'not.or'].map((word) => {
    const { filters } = parseReadQuery(parseQueryString(`${word}=(id.eq.1,title.eq.x)`)).levels.get('')!;
    const statement = new SqlText();
    writeWhere(statement, conditionsOf({ relation, alias: '"b"' }, filters));
    return statement.finish('').statementKey;
  });
  expect(new Set(keys).size).toBe(4);
});

describe('order and pages', () => {
  test('by columns, JSON values and related rows; nulls first and last', async () => {
    const ordered = async (order: string): Promise<unknown> =>
      ((await get(`book?select=id&order=${order}`)) as { id: number }[]).map(({ id }) => id);
    expect(await ordered('price.desc')).toEqual([3, 1, 2]);
    expect(await ordered('price.desc.nullslast')).toEqual([1, 2, 3]);
    expect(await ordered('price.nullsfirst,id')).toEqual([3, 2, 1]);
    expect(await ordered('data->pages.desc')).toEqual([1, 3, 2]);
    expect(await ordered('translator(name),id.desc')).toEqual([1, 3, 2]);
    expect(await get('book?select=id,writer:author!book_author_fkey(country)&order=writer(country).desc,id')).toEqual([
      { id: 3, writer: { country: 'PL' } },
      { id: 1, writer: { country: 'NO' } },
      { id: 2, writer: { country: 'NO' } },
    ]);
    expect(await get('author?order=book!author(title)')).toMatchObject([
      'PGRST100',
      expect.any(String),
      expect.any(String),
    ]);
    expect(await get('passport?order=number->x')).toEqual([{ author: 1, number: 'N1' }]);
    expect(await get('place?order=spot')).toEqual(['42883', '"order" does not exist for column "spot" of type point']);
    expect(await get('place?order=facts->a.desc')).toEqual([{ id: 1, spot: '(1,2)', facts: { a: 1 } }]);
    expect(await get('genre?order=book(title)')).toMatchObject(['PGRST118', expect.any(String), expect.any(String)]);
  });

  test('limit and offset, of related rows too', async () => {
    expect(await get('book?select=id&order=id&limit=1&offset=1')).toEqual([[{ id: 2 }], 3]);
    expect(await get('author?select=book!author(id)&id=eq.1&book.order=id&book.offset=1')).toEqual([
      { book: [{ id: 2 }] },
    ]);
    expect(await get('book?select=id&limit=0')).toEqual([[], 3]);
  });
});

test('a written row is returned with its related rows', async () => {
  model ??= await readModel();
  const relation = model.relations.get(relationKey({ schema: 'public', name: 'author' }))!;
  const query = parseReadQuery(
    parseQueryString('select=id,home:country(name),book!author(id)&book.order=id&order=id.desc&id=eq.1'),
  );
  const { columns, from, order } = writtenRowSql({ model, relation, query, limits }, '"written"');
  const statement = sql`with "written" as (update author set name = name where id < 3 returning *)
    select pg_catalog.json_agg("row".*) from (select `;
  writeColumns(statement, columns);
  writeOrder(statement.add(' from ').append(from), order);
  const written = statement.add(') "row"').finish('');
  expect(JSON.parse((await catalog.query(written.sql(), written.values))[0]![0]!)).toEqual([
    { id: 2, home: { name: 'Poland' }, book: [{ id: 3 }] },
    { id: 1, home: { name: 'Norway' }, book: [{ id: 1 }, { id: 2 }] },
  ]);
});
