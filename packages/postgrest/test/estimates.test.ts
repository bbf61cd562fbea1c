import { PostgrestClient } from '@supabase/postgrest-js';
import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** The planner knows the size of an analyzed table. */
const gateway = useGateway(
  `
  create table big (id int primary key, kind int);
  insert into big select id, id % 10 from generate_series(1, 1000) id;
  create table tag (id int primary key, big_id int references big);
  insert into tag values (1, 1);
  analyze big, tag;
`,
  postgrest({ listingLimits: { maxLimit: 20 } }),
);
const client = (): PostgrestClient => new PostgrestClient(`${gateway.url}/rest`);

const counts = ['exact', 'planned', 'estimated'] as const;
type Count = (typeof counts)[number];

async function countAll(count: Count, kind?: number): Promise<number | null> {
  const query = client().from('big').select('id', { count, head: true });
  const result = await (kind === undefined ? query : query.eq('kind', kind));
  expect([result.error, [200, 206].includes(result.status)]).toEqual([null, true]);
  return result.count;
}

test('planned is the estimate of the planner, estimated counts up to the maximum of rows', async () => {
  expect(await Promise.all(counts.map((count) => countAll(count)))).toEqual([1_000, 1_000, 1_000]);
  // The statistics do not know that the values are unknown: one row is expected.
  expect(await Promise.all(counts.map((count) => countAll(count, 77)))).toEqual([0, 1, 0]);
  // Not analyzed again: the planner expects the rows of before.
  await gateway.database.query('delete from big where kind = 3 and id > 103');
  const [exact, planned, estimated] = await Promise.all(counts.map((count) => countAll(count, 3)));
  expect([exact, estimated]).toEqual([11, 11]);
  expect(planned).toBeGreaterThan(80);
  await gateway.database.query('insert into big select id, 77 from generate_series(1001, 1030) id');
  // More rows than are counted, of which the planner knows nothing: the page has 20.
  expect(await Promise.all(counts.map((count) => countAll(count, 77)))).toEqual([30, 20, 21]);
});

test('the range and the preference in the response, with related rows and groups', async () => {
  expect(await ask(gateway, 'GET /rest/big?id=lte.2&select=id&order=id', { headers: { prefer: 'count=planned' } }))
    .toMatchInlineSnapshot(`
    "200
    content-range: 0-1/2
    content-type: application/json; charset=utf-8
    preference-applied: count=planned

    [{"id":1}, 
     {"id":2}]"
  `);
  // An estimate is never smaller than the page, and no reason to refuse an offset.
  const past = await gateway.send('GET /rest/tag?offset=5', { headers: { prefer: 'count=planned' } });
  expect([past.status, past.headers.get('content-range')]).toEqual([206, '*/1']);
  const exact = await gateway.send('GET /rest/tag?offset=5', { headers: { prefer: 'count=estimated' } });
  expect(exact.status).toBe(416);
  const related = await gateway.send('GET /rest/big?select=id,tag!inner(id)&tag.id=eq.1', {
    headers: { prefer: 'count=planned' },
  });
  expect(related.body).toBe('[{"id":1,"tag":[{"id":1}]}]');
  expect(related.headers.get('content-range')).toMatch(/^0-0\/\d+$/);
});

test('a value of another type is the same error as without a count', async () => {
  for (const count of counts) {
    const response = await gateway.send('GET /rest/big?id=eq.x', { headers: { prefer: `count=${count}` } });
    expect([response.status, JSON.parse(response.body).code]).toEqual([400, '22P02']);
  }
});
