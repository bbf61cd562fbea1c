import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** The calls of `@supabase/postgrest-js` that read, unchanged, against the gateway. */
const gateway = useGateway(
  `
  create table author (id int primary key, name text not null unique);
  create table book (
    id int primary key, title text not null, author_id int references author, price numeric(8, 2), tags text[] not null default '{}',
    data jsonb not null default '{}', sold int4range);
  create table review (id int primary key, book_id int references book, stars int);
  create table place (id int primary key, spot point, facts json);
  create view cheap as select id, title from book where price < 15;
  insert into author values (1, 'Ann'), (2, 'Bob'), (3, 'Cy');
  insert into book values (1, 'One', 1, 10, '{a,b}', '{"n": 1, "deep": {"k": "v"}}', '[1,5)'), (2, 'Two', 1, 20.5, '{b}', '{"n": 2}', '[5,9)'),
    (3, 'Three, four', 2, null, '{}', '{}', null);
  insert into review values (1, 1, 5), (2, 1, 3), (3, 2, 4);
  insert into place values (1, '(1,2)', '{"a": 1}');
`,
  postgrest(),
);

const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);
const ids = async (query: PromiseLike<{ readonly data: unknown; readonly error: unknown }>): Promise<unknown> => {
  const { data, error } = await query;
  return error ?? (data as { readonly id: number }[]).map(({ id }) => id);
};

describe('filters', () => {
  test.each<
    [
      string,
      (books: ReturnType<PostgrestClient['from']>) => PromiseLike<{ data: unknown; error: unknown }>,
      readonly number[],
    ]
  >([
    ['eq', (books) => books.select('id').eq('title', 'Three, four'), [3]],
    ['neq', (books) => books.select('id').neq('id', 1).order('id'), [2, 3]],
    ['gt, lte', (books) => books.select('id').gt('id', 1).lte('id', 2), [2]],
    ['like', (books) => books.select('id').like('title', 'T%').order('id'), [2, 3]],
    ['likeAnyOf', (books) => books.select('id').likeAnyOf('title', ['O%', '%four']).order('id'), [1, 3]],
    ['ilikeAllOf', (books) => books.select('id').ilikeAllOf('title', ['t%', '%O']).order('id'), [2]],
    ['is', (books) => books.select('id').is('price', null), [3]],
    ['in', (books) => books.select('id').in('title', ['One', 'Three, four']).order('id'), [1, 3]],
    ['contains an array', (books) => books.select('id').contains('tags', ['a']), [1]],
    ['contains JSON', (books) => books.select('id').contains('data', { n: 2 }), [2]],
    ['containedBy', (books) => books.select('id').containedBy('tags', ['b', 'c']).order('id'), [2, 3]],
    ['overlaps', (books) => books.select('id').overlaps('tags', ['a', 'c']), [1]],
    ['rangeLt', (books) => books.select('id').rangeLt('sold', '[5,9)'), [1]],
    ['rangeAdjacent', (books) => books.select('id').rangeAdjacent('sold', '[1,5)'), [2]],
    ['textSearch', (books) => books.select('id').textSearch('title', 'three & four', { config: 'simple' }), [3]],
    ['websearch', (books) => books.select('id').textSearch('title', 'one or two', { type: 'websearch' }), [1, 2]],
    ['match', (books) => books.select('id').match({ id: 2, title: 'Two' }), [2]],
    ['not', (books) => books.select('id').not('price', 'is', null).order('id'), [1, 2]],
    ['not in', (books) => books.select('id').not('id', 'in', '(1,2)'), [3]],
    ['or', (books) => books.select('id').or('id.eq.1,and(price.gt.15,tags.cs.{b})').order('id'), [1, 2]],
    ['JSON path', (books) => books.select('id').eq('data->deep->>k', 'v'), [1]],
    ['filter', (books) => books.select('id').filter('data->n', 'gte', 2), [2]],
  ])('%s', async (_, query, expected) => {
    expect(await ids(query(client().from('book')))).toEqual(expected);
  });
});

test('related rows, in both directions, filtered, ordered and limited', async () => {
  const { data } = await client()
    .from('author')
    .select('name, books:book(title, review(stars))')
    .order('name', { ascending: false })
    .order('id', { referencedTable: 'books' })
    .limit(1, { referencedTable: 'books' })
    .gte('books.review.stars', 5);
  expect(data).toEqual([
    { name: 'Cy', books: [] },
    { name: 'Bob', books: [{ title: 'Three, four', review: [] }] },
    { name: 'Ann', books: [{ title: 'One', review: [{ stars: 5 }] }] },
  ]);
  expect(await client().from('book').select('title, author!inner(name)').eq('author.name', 'Bob')).toMatchObject({
    data: [{ title: 'Three, four', author: { name: 'Bob' } }],
  });
  expect(await client().from('author').select('id, book(count)').order('id')).toMatchObject({
    data: [
      { id: 1, book: [{ count: 2 }] },
      { id: 2, book: [{ count: 1 }] },
      { id: 3, book: [{ count: 0 }] },
    ],
  });
  expect(
    await client().from('book').select('id, ...author(writer:name)').order('author(name)').order('id'),
  ).toMatchObject({
    data: [
      { id: 1, writer: 'Ann' },
      { id: 2, writer: 'Ann' },
      { id: 3, writer: 'Bob' },
    ],
  });
  expect(
    await client().from('author').select('id, book!inner(review(id))').or('title.eq.Two', { referencedTable: 'book' }),
  ).toMatchObject({
    data: [{ id: 1, book: [{ review: [{ id: 3 }] }] }],
  });
});

test('single rows, counts, ranges, HEAD, views', async () => {
  expect(await client().from('book').select('title').eq('id', 1).single()).toMatchObject({
    status: 200,
    data: { title: 'One' },
  });
  expect(await client().from('book').select('title').single()).toMatchObject({
    status: 406,
    error: { code: 'PGRST116', details: 'The result contains 3 rows' },
  });
  expect(await client().from('book').select().eq('id', 9).maybeSingle()).toMatchObject({ data: null, error: null });
  expect(await client().from('book').select('id', { count: 'exact' }).order('id').range(1, 1)).toMatchObject({
    status: 206,
    count: 3,
    data: [{ id: 2 }],
  });
  expect(await client().from('book').select('id', { count: 'exact', head: true }).gt('id', 1)).toMatchObject({
    status: 200,
    count: 2,
    data: null,
  });
  expect(await client().from('author').select('id, book!inner(id)', { count: 'exact' }).limit(1)).toMatchObject({
    count: 2,
  });
  expect(await client().from('cheap').select()).toMatchObject({ data: [{ id: 1, title: 'One' }] });
});

test('CSV', async () => {
  const columns = 'id, "n,m":title, price, tags, data->deep->>k, author(name)';
  expect((await client().from('book').select(columns).order('id').csv()).data).toBe(
    [
      'id,"n,m",price,tags,k,author',
      '1,One,10.00,"{a,b}",v,"{""name"": ""Ann""}"',
      '2,Two,20.50,{b},,"{""name"": ""Ann""}"',
      '3,"Three, four",,{},,"{""name"": ""Bob""}"',
    ].join('\n'),
  );
  expect((await client().from('book').select('id').eq('id', 9).csv()).data).toBe('id\n');
  await client().from('author').insert({ id: 9, name: 'a\\b "c"' });
  expect((await client().from('author').select('name').eq('id', 9).csv()).data).toBe('name\n"a\\b ""c"""');
  await client().from('author').delete().eq('id', 9);
  const headers = { accept: 'text/csv', prefer: 'return=representation' };
  const inserted = await ask(gateway, 'POST /rest/author', {
    headers,
    body: [
      { id: 9, name: 'x' },
      { id: 10, name: 'y, z' },
    ],
  });
  expect(inserted).toMatch(/^201\n[^]*\n\nid,name\n9,x\n10,"y, z"$/);
  expect(await ask(gateway, 'DELETE /rest/author?id=gte.9&select=name', { headers })).toMatch(/\n\nname\nx\n"y, z"$/);
});

test('errors name what is wrong', async () => {
  expect(await client().from('book').select('titel')).toMatchObject({
    status: 400,
    error: {
      code: '42703',
      message: 'column book.titel does not exist',
      hint: 'Perhaps you meant to reference the column "book.title".',
    },
  });
  expect(await client().from('book').select('id, place(id)')).toMatchObject({
    status: 400,
    error: { code: 'PGRST200' },
  });
  expect(await client().from('book').select().eq('id', 'x')).toMatchObject({ status: 400, error: { code: '22P02' } });
  expect(await client().from('nothing').select()).toMatchObject({ status: 404 });
});

test('conditions that differ in and, or and not are different statements', async () => {
  const expected = { and: [], or: [1, 2], 'not.and': [1, 2, 3], 'not.or': [3] };
  // Often enough for a prepared statement.
  for (let round = 0; round < 5; round++) {
    for (const [word, found] of Object.entries(expected)) {
      const { body } = await gateway.send(`GET /rest/book?select=id&order=id&${word}=(id.eq.1,id.eq.2)`);
      expect(JSON.parse(body)).toEqual(found.map((id) => ({ id })));
    }
  }
});

test.each([
  'place?order=spot',
  'place?order=facts',
  'place?order=facts->a',
  'place?spot=eq.(1,2)',
  'place?spot=gt.(1,2)',
  'place?select=spot::int4',
  'book?data->n=ov.{1}',
  'book?data->>n=cs.1',
  'book?data=gt.1',
  'book?title=fts(nope).x',
  'book?title=match.(',
  'book?select=id&price=eq.1e999999',
  'book?select="":id',
  'book?select=data->"%00"',
  'book?id=eq.%00',
  'book?select=*,*,*,*&limit=1',
  `book?select=${Array.from({ length: 300 }, () => '*').join()}`,
  `book?or=(${Array.from({ length: 100 }, (_, n) => `id.eq.${n}`).join()})`,
  `author?select=${'book(author('.repeat(9)}id${'))'.repeat(9)}`,
  'author?select=id,...book(id)',
  'book?select=...author(id,id)',
  'book?select=...author(id,review())',
  'book?limit=999999999999999',
  'book?offset=999999999999999',
  'book?limit=99999999999999999999',
  'book?id=in.(1,2',
  'book?id=is.true',
  'book?id=not.not.eq.1',
  'book?select=id,title:title:title',
  'book?order=id.asc.desc.asc',
  'book?select=%ff',
  'book?author.id=eq.1',
])('no request makes an error of the server: %.60s', async (target) => {
  const response = await ask(gateway, `GET /rest/${target}`);
  expect(response).toMatch(/^(?:200|400|416)\n|^404\n.*42883/s);
  // Useless refreshes of the catalog would follow from errors that look like a changed schema.
  expect(response).not.toContain('stale');
});
