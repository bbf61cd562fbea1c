import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

const sql = `
  create table customer (id int primary key, city text, facts json);
  create table purchase (
    id int primary key, customer_id int references customer, amount numeric, category text, data jsonb, spot point);
  insert into customer values (1, 'Rome', '{"a": 1}'), (2, 'Oslo', '{"a": 1}'), (3, 'Rome', null);
  insert into purchase values
    (1, 1, 10, 'book', '{"tax": "1", "kind": {"k": "x"}}', null), (2, 1, 20, 'book', '{"tax": "2", "kind": {"k": "x"}}', null),
    (3, 2, 5, 'pen', '{"tax": "3", "kind": {"k": "y"}}', null), (4, null, 7, null, '{}', null);
`;

describe('with allowAggregates', () => {
  const gateway = useGateway(sql, postgrest({ allowAggregates: true }));
  const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);

  test.each([
    ['amount.sum()', [{ sum: 42 }]],
    [
      'total:amount.sum(),mean:amount.avg()::int,amount.max(),amount.min(),n:count(),c:category.count()',
      [{ total: 42, mean: 11, max: 20, min: 5, n: 4, c: 3 }],
    ],
    [
      'category,amount.sum()&order=category.desc.nullslast',
      [
        { category: 'pen', sum: 5 },
        { category: 'book', sum: 30 },
        { category: null, sum: 7 },
      ],
    ],
    [
      'data->>tax::int.sum(),kind:data->kind->>k&order=data->kind->>k.desc&data->>tax=not.is.null',
      [
        { sum: 3, kind: 'y' },
        { sum: 3, kind: 'x' },
      ],
    ],
    [
      'customer_id,count(),customer(city,facts)&id=lt.4&order=customer_id',
      [
        { customer_id: 1, count: 2, customer: { city: 'Rome', facts: { a: 1 } } },
        { customer_id: 2, count: 1, customer: { city: 'Oslo', facts: { a: 1 } } },
      ],
    ],
    ['amount.sum(),...customer(city)&customer_id=not.is.null&category=eq.pen', [{ sum: 5, city: 'Oslo' }]],
    [
      'category,...customer(last:city.max(),id.count())&category=not.is.null&order=category',
      [
        { category: 'book', last: 'Rome', count: 2 },
        { category: 'pen', last: 'Oslo', count: 1 },
      ],
    ],
    ['category,...customer(n:count())&category=eq.book', [{ category: 'book', n: 2 }]],
  ])('purchase?select=%s', async (query, expected) => {
    const response = await gateway.send(`GET /rest/purchase?select=${query}`);
    expect([response.status, JSON.parse(response.body)]).toEqual([200, expected]);
  });

  test('aggregates of related rows, filtered, with limits, and with !inner', async () => {
    expect(await client().from('customer').select('id, purchase(amount.sum(), count())').order('id')).toMatchObject({
      data: [
        { id: 1, purchase: [{ sum: 30, count: 2 }] },
        { id: 2, purchase: [{ sum: 5, count: 1 }] },
        { id: 3, purchase: [{ sum: null, count: 0 }] },
      ],
    });
    expect(
      await client().from('customer').select('id, purchase!inner(category, amount.max())').gt('purchase.amount', 5),
    ).toMatchObject({ data: [{ id: 1, purchase: [{ category: 'book', max: 20 }] }] });
    expect(await client().from('customer').select('id, purchase!inner(amount.max())').order('id')).toMatchObject({
      data: [
        { id: 1, purchase: [{ max: 20 }] },
        { id: 2, purchase: [{ max: 5 }] },
      ],
    });
    expect(await client().from('customer').select('facts, count()').is('facts', null)).toMatchObject({
      data: [{ facts: null, count: 1 }],
    });
  });

  test('the count is the number of groups, of which a page is returned', async () => {
    expect(
      await client().from('purchase').select('category, count()', { count: 'exact' }).order('category').limit(1),
    ).toMatchObject({ status: 206, count: 3, data: [{ category: 'book', count: 2 }] });
  });

  test('the rows of a write', async () => {
    expect(
      await client().from('purchase').update({ amount: 6 }).eq('category', 'none').select('n:count(), amount.sum()'),
    ).toMatchObject({ status: 200, data: [{ n: 0, sum: null }] });
  });

  test.each([
    ['amount.median()', 'PGRST100'],
    ['amount.sum', 'PGRST100'],
    ['amount.sum(1)', 'PGRST100'],
    ['amount.sum()::regclass', '42704'],
    ['amount.sum();drop', 'PGRST100'],
    ['none.sum()', '42703'],
    ['category::int.sum()', '22P02'],
    ['count()&order=amount', '42803'],
    ['count(),kind:data->kind&order=data->kind->>k', '42803'],
    ['count(),customer(city)&order=customer_id', '42803'],
  ])('select=%s is an error of the request', async (select, code) => {
    const response = await gateway.send(`GET /rest/purchase?select=${encodeURI(select).replaceAll('%26', '&')}`);
    expect([response.status, JSON.parse(response.body).code]).toEqual([400, code]);
  });

  test.each(['category.sum()', 'spot,count()'])(
    '%s has no function for its type, with the status of PostgREST',
    async (select) => {
      const response = await gateway.send(`GET /rest/purchase?select=${select}`);
      expect([response.status, JSON.parse(response.body).code]).toEqual([404, '42883']);
      expect(gateway.observations.some(({ kind }) => kind === 'endpoint-stale')).toBe(false);
    },
  );
});

describe('by default', () => {
  const gateway = useGateway(sql, postgrest());

  test('aggregates are refused, count of related rows is not', async () => {
    expect(await ask(gateway, 'GET /rest/purchase?select=amount.sum()')).toMatchInlineSnapshot(`
      "400
      content-type: application/json; charset=utf-8

      {"code":"PGRST123","message":"Use of aggregate functions is not allowed","details":null,"hint":null}"
    `);
    for (const select of ['n:count()', 'category,count()', 'customer(count())', '...customer(id.max())']) {
      expect((await gateway.send(`GET /rest/purchase?select=${select}`)).body).toContain('"PGRST123"');
    }
    expect((await gateway.send('GET /rest/customer?select=purchase(count)&id=eq.1')).body).toBe(
      '[{"purchase":[{"count":2}]}]',
    );
  });
});
