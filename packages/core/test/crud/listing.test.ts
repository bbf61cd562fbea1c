import { startGateway, useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, published, refusal, tables } from './support.ts';

const sql = `
  create table book (id int primary key, title text, price numeric, sold boolean, tags text[], made date, doc json, kind char(3));
  insert into book values
    (1, 'Rust', 10.5, true, '{a,b}', '2024-01-01', '{"a": 1}', 'x'),
    (2, 'rusty', 20, false, '{b}', '2024-02-01', '{"a":1 }', 'yy'),
    (3, 'Go, Lang', 30, null, null, '2024-03-01', '{"b":1}', 'x'),
    (4, 'eq.x', null, true, '{}', null, null, null),
    (5, null, 50, false, '{c}', '2024-05-01', '{}', 'zzz'),
    (6, '', 10.5, null, '{a,b}', '2024-06-01', '[]', 'x');
  create table reserved ("order" int primary key, "limit" int, "offset" int, "after" int, "a,b" int, "c.desc" int);
  insert into reserved values (1, 10, 100, 7, 3, 3), (2, 20, 200, 7, 2, 2), (3, 30, 300, 7, 1, 1);
  create table keyless (n int);
  insert into keyless select generate_series(1, 5);
  create table plain (id int primary key);
  create table commented (id int primary key);
  comment on table commented is 'listing = off';
`;

const gateway = useGateway(sql, tables({ listing: true, listingLimits: { defaultLimit: 4, maxLimit: 5 } }));
type Rows = readonly Readonly<Record<string, unknown>>[];
const encoded = (query: Readonly<Record<string, string | readonly string[]>>): string =>
  Object.entries(query)
    .flatMap(([key, values]) =>
      [values].flat().map((value) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`),
    )
    .join('&');

/** Returns the ids of the matching books, in order. */
async function found(query: Readonly<Record<string, string | readonly string[]>>, table = 'book'): Promise<unknown> {
  const [status, body] = await ask(gateway, `GET /api/${table}?${encoded(query)}`);
  return status === 200 ? (body as Rows).map((row) => Object.values(row)[0]) : [status, body];
}

describe('filters', () => {
  test.each<[Readonly<Record<string, string | readonly string[]>>, readonly number[]]>([
    [{ id: '2' }, [2]],
    [{ id: 'eq.2' }, [2]],
    [{ id: 'neq.2' }, [1, 3, 4, 5]],
    [{ id: 'gt.4' }, [5, 6]],
    [{ id: 'gte.4' }, [4, 5, 6]],
    [{ id: 'lt.2' }, [1]],
    [{ id: 'lte.2' }, [1, 2]],
    [{ id: ['gte.2', 'lt.4'] }, [2, 3]],
    [{ id: ['gte.2', 'lt.4', 'neq.3'] }, [2]],
    [{ price: 'gt.10.5' }, [2, 3, 5]],
    [{ made: 'lt.2024-02-15', id: 'gt.1' }, [2]],
    [{ title: 'like.Rust*' }, [1]],
    [{ title: 'ilike.rust%' }, [1, 2]],
    [{ title: 'not.ilike.*rust*' }, [3, 4, 6]],
    [{ title: 'like.R_st' }, [1]],
    [{ id: 'like.*3*' }, [3]],
    [{ id: 'in.(1,3,9)' }, [1, 3]],
    [{ id: 'not.in.(1,2,3)' }, [4, 5, 6]],
    [{ id: 'in.()' }, []],
    [{ title: 'in.("Go, Lang",rusty)' }, [2, 3]],
    [{ title: 'in.(Go, Lang)' }, []],
    [{ title: String.raw`in.("eq\.x","with \" quote")` }, [4]],
    [{ title: 'is.null' }, [5]],
    [{ title: 'not.is.null', id: 'gt.4' }, [6]],
    [{ title: 'is.not_null', id: 'gt.4' }, [6]],
    [{ sold: 'is.true' }, [1, 4]],
    [{ sold: 'is.false' }, [2, 5]],
    [{ sold: 'is.unknown' }, [3, 6]],
    [{ sold: 'not.is.true' }, [2, 3, 5, 6]],
    [{ title: 'eq.x' }, []],
    [{ title: 'eq.eq.x' }, [4]],
    [{ title: 'neq.Rust' }, [2, 3, 4, 6]],
    [{ title: '' }, [6]],
    [{ title: 'eq.' }, [6]],
    [{ price: '' }, [4]],
    [{ price: 'neq.' }, [1, 2, 3, 5]],
    [{ price: 'eq.10.50' }, [1, 6]],
    [{ kind: 'x' }, [1, 3, 6]],
    [{ kind: 'in.(x,yy)' }, [1, 2, 3, 6]],
    [{ doc: '{"a":1}' }, [1, 2]],
    [{ doc: 'neq.{"a":1}' }, [3, 5, 6]],
    [{ doc: String.raw`in.("{\"a\": 1}",7)` }, [1, 2]],
    [{ tags: ['a', 'b'] }, [1, 6]],
    [{ tags: ['b'] }, [2]],
  ])('%j: %j', async (query, ids) => {
    expect(await found(query)).toEqual(ids);
  });

  test.each([
    [{ doc: 'gt.1' }, 'doc', /no order/],
    [{ id: 'in.1,2' }, 'id', /in\. takes a list/],
    [{ id: 'in.(1,"2)' }, 'id', /in\. takes a list/],
    [{ id: 'in.(1,x)' }, 'id', /list of integer/],
    [{ id: 'is.true' }, 'id', /boolean/],
    [{ sold: 'is.maybe' }, 'sold', /is\. takes/],
    [{ sold: 'IS.TRUE' }, 'sold', /takes boolean/],
    [{ order: 'PRICE' }, 'order', /not a column/],
    [{ id: 'gt.x' }, 'id', /takes integer/],
    [{ id: ['gt.1', 'lt.x'] }, 'id', /takes integer/],
    [{ id: 'x' }, 'id', /takes integer/],
    [{ order: 'nothing' }, 'order', /not a column/],
    [{ order: 'id.down' }, 'order', /not a column/],
    [{ order: 'id,id.desc' }, 'order', /twice/],
    [{ order: 'doc' }, 'order', /no order/],
    [{ order: 'id,' }, 'order', /not a column/],
    [{ order: '"id' }, 'order', /not a column/],
    [{ order: 'id;drop table book' }, 'order', /not a column/],
    [{ limit: '6' }, 'limit', /at most 5/],
    [{ limit: '-1' }, 'limit', /number of rows/],
    [{ limit: '1e1' }, 'limit', /number of rows/],
    [{ offset: 'x' }, 'offset', /number of rows/],
    [{ offset: '99999999999999999999' }, 'offset', /number of rows/],
    [{ after: ['1', '2'] }, 'after', /one value each of id/],
    [{ after: ['1'], order: 'price' }, 'after', /one value each of price, id/],
    [{ after: ['x'] }, 'id', /takes integer/],
  ])('%j is refused', async (query, parameter, detail) => {
    expect(await found(query)).toEqual(refusal(400, { parameters: [parameter], detail }));
  });
});

describe('ordering and pagination', () => {
  test.each<[Readonly<Record<string, string | readonly string[]>>, readonly number[]]>([
    [{}, [1, 2, 3, 4]],
    [{ limit: '5' }, [1, 2, 3, 4, 5]],
    [{ limit: '0' }, []],
    [{ limit: '' }, [1, 2, 3, 4]],
    [{ limit: '2', offset: '3' }, [4, 5]],
    [{ order: 'id.desc', limit: '2' }, [6, 5]],
    [{ order: 'price', limit: '5' }, [1, 6, 2, 3, 5]],
    [{ order: 'price.desc', limit: '3' }, [4, 5, 3]],
    [{ order: 'price.desc.nullslast', limit: '5' }, [5, 3, 2, 1, 6]],
    [{ order: 'price.asc.nullsfirst', limit: '2' }, [4, 1]],
    [{ order: 'price.nullsfirst,id.desc', limit: '3' }, [4, 6, 1]],
    [{ order: 'price.DESC.NULLSLAST', limit: '1' }, [5]],
    [{ order: '"price".desc.nullslast', limit: '1' }, [5]],
    [{ after: '4' }, [5, 6]],
    [{ after: '2', limit: '1' }, [3]],
    [{ after: ['10.5', '1'], order: 'price' }, [6, 2, 3, 5]],
    [{ after: ['is.null', '4'], order: 'price' }, []],
    [{ after: ['', '4'], order: 'price.desc' }, [5, 3, 2, 1]],
    [{ after: ['is.null', '5'], order: 'title.nullsfirst', limit: '1' }, [6]],
    [{ after: ['', '6'], order: 'title', title: 'neq.eq.x', limit: '1' }, [3]],
  ])('%j: %j', async (query, ids) => {
    expect(await found(query)).toEqual(ids);
  });

  test('a table without a key needs an order for keyset pagination', async () => {
    expect(await found({ order: 'n.desc', limit: '2' }, 'keyless')).toEqual([5, 4]);
    expect(await found({ order: 'n', after: '3' }, 'keyless')).toEqual([4, 5]);
    expect(await found({ after: '3' }, 'keyless')).toEqual(
      refusal(400, { parameters: ['after'], detail: /there is no key/ }),
    );
  });

  test('columns named like listing parameters keep their names', async () => {
    expect(await found({ order: '2', limit: '20' }, 'reserved')).toEqual([2]);
    expect(await found({ $order: 'order.desc', $limit: '2' }, 'reserved')).toEqual([3, 2]);
    expect(await found({ $order: 'limit', $after: ['10', '1'], $limit: '1', $offset: '1' }, 'reserved')).toEqual([3]);
    expect(await found({ $order: '"a,b"' }, 'reserved')).toEqual([3, 2, 1]);
    expect(await found({ $order: '"c.desc".asc' }, 'reserved')).toEqual([3, 2, 1]);
    expect(await found({ $order: 'c.desc.desc' }, 'reserved')).toEqual([1, 2, 3]);
  });
});

describe('counts', () => {
  const count = async (line: string, prefer = 'count=exact'): Promise<readonly (string | null)[]> => {
    const { headers } = await gateway.send(line, { headers: { prefer } });
    return [headers.get('x-total-count'), headers.get('preference-applied')];
  };

  test('Prefer: count=exact counts all matching rows, not the page', async () => {
    expect(await count('GET /api/book')).toEqual(['6', 'count=exact']);
    expect(await count('GET /api/book?price=gt.10.5&limit=1&offset=1')).toEqual(['3', 'count=exact']);
    expect(await count('GET /api/book?after=4')).toEqual(['6', 'count=exact']);
    expect(await count('GET /api/book?id=in.()')).toEqual(['0', 'count=exact']);
    expect(await count('HEAD /api/book')).toEqual(['6', 'count=exact']);
    expect(await count('GET /api/book', 'respond-async, count = "exact"; x=1')).toEqual(['6', 'count=exact']);
    for (const prefer of ['count=planned', 'recount=exact', 'count=exactly', '']) {
      expect(await count('GET /api/book', prefer)).toEqual([null, null]);
    }
  });

  test('an invalid value is reported with its parameter', async () => {
    const answer = await ask(gateway, 'GET /api/book?id=gt.x', undefined, { prefer: 'count=exact' });
    expect(answer).toEqual(refusal(400, { parameters: ['id'] }));
  });
});

test('a comment disables and enables the listing; path parameters are values', async () => {
  expect(await ask(gateway, 'GET /api/commented?order=id')).toEqual(refusal(400, { unknown: ['order'] }));
  const own = await startGateway(
    `${sql}
     comment on table book is 'listing
       for select
       HTTP GET /books/{title?}';
     comment on table reserved is 'for select
       HTTP POST /reserved/search
       listing';
     comment on table keyless is 'for select
       listing
       X-N: {n}'`,
    tables(),
  );
  expect(await ask(own, 'GET /api/plain?order=id')).toEqual(refusal(400, { unknown: ['order'] }));
  expect(await ask(own, 'GET /books/eq.x')).toMatchObject([200, [{ id: 4 }]]);
  expect(await ask(own, 'GET /books/in.(Rust)')).toEqual([200, []]);
  expect(await ask(own, 'GET /books/Rust?id=lt.5&order=id')).toMatchObject([200, [{ id: 1 }]]);
  expect(await ask(own, 'GET /books?order=id.desc&limit=1')).toMatchObject([200, [{ id: 6 }]]);
  // A key occurs once in a body.
  const search = { $order: 'limit.desc', $limit: 1, order: 'lt.3' };
  expect(await ask(own, 'POST /reserved/search', search)).toMatchObject([200, [{ order: 2 }]]);
  expect(await ask(own, 'POST /reserved/search', { $order: 'limit.desc', $after: [20, 2] })).toMatchObject([
    200,
    [{ order: 1 }],
  ]);
  expect(await ask(own, 'POST /reserved/search', { $after: 'x' })).toEqual(refusal(400));
  expect(await ask(own, 'POST /reserved/search', { $after: { a: 1 } })).toEqual(refusal(400));
  expect(published(own)).toContain('POST /reserved/search');
  const { headers } = await own.send('GET /api/keyless?n=gt.1&n=5');
  expect(headers.get('x-n')).toBe('gt.1, 5');
  await own.close();
});
