import { cases, serverVersion, useGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ask, tables } from './support.ts';

const gateway = useGateway(
  `create table spot (id int, region text, a int, b text, c numeric, d timestamptz not null, e float8, primary key (region, id))`,
  tables({ listing: true }),
);

const texts = fc.constantFrom(
  null,
  '',
  'a',
  'B',
  'is.null',
  'eq.is.null',
  'eq.eq.is.null',
  'null',
  '%',
  'ä',
  '"',
  '{',
  ',',
  'gt.1',
);
const row = fc.tuple(
  fc.option(fc.integer({ min: -2, max: 2 })),
  texts,
  fc.option(fc.constantFrom('1', '1.50', '-7.25', '99999999999999999999.5', 'NaN')),
  fc.constantFrom('2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000001Z', 'infinity', '2023-12-31T23:00:00-05:00'),
  fc.option(fc.constantFrom('0.1', '1e300', '-Infinity', 'NaN', '0')),
);
const columns = ['a', 'b', 'c', 'd', 'e', 'id', 'region'] as const;
const term = fc.record({
  name: fc.constantFrom(...columns),
  direction: fc.constantFrom('', '.asc', '.desc'),
  nulls: fc.constantFrom('', '.nullsfirst', '.nullslast'),
});
const listings = fc.record({
  rows: fc.array(row, { minLength: 0, maxLength: 14 }),
  order: fc.uniqueArray(term, { maxLength: 4, selector: ({ name }) => name }),
  limit: fc.integer({ min: 1, max: 5 }),
});

type Row = Readonly<Record<string, string | number | null>>;

/** Returns a received value as a client sends it. */
function written(value: string | number | null): string {
  if (value === null) return 'is.null';
  return typeof value === 'string' && /^(?:eq\.)*is\.null$/.test(value) ? `eq.${value}` : String(value);
}

async function pages(order: string, by: readonly string[], limit: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let page = 0; page < 40; page++) {
    const last = rows.at(-1);
    const query = new URLSearchParams({ limit: String(limit), ...(order === '' ? {} : { order }) });
    if (last !== undefined) for (const name of by) query.append('after', written(last[name]!));
    const { status, body } = await gateway.send(`GET /api/spot?${query.toString()}`);
    expect([status, body]).toEqual([200, expect.anything()]);
    // Numbers with all their digits, or the next page would start elsewhere.
    const next = JSON.parse(body.replaceAll(/(?<=":)-?\d[\d.eE+-]*/g, '"$&"')) as readonly Row[];
    rows.push(...next);
    if (next.length < limit) return rows;
  }
  throw new Error('the pages do not end');
}

test('keyset pagination visits every row once, in the order of ORDER BY', async () => {
  await fc.assert(
    fc.asyncProperty(listings, async ({ rows, order, limit }) => {
      const values = rows.map((_, index) => {
        const at = index * 5;
        return `(${index >> 1}, ${index % 2 === 0 ? "''" : "'r'"}, $${at + 1}::int, $${at + 2}::text, $${at + 3}::numeric, $${at + 4}::timestamptz, $${at + 5}::float8)`;
      });
      await gateway.database.query('delete from spot');
      if (values.length > 0)
        await gateway.database.query(
          `insert into spot (id, region, a, b, c, d, e) values ${values.join(', ')}`,
          rows.flat(),
        );
      const asked = order.map(({ name, direction, nulls }) => `${name}${direction}${nulls}`).join(',');
      const names = order.map(({ name }) => name);
      const by = [...names, ...(['id', 'region'] as const).filter((name) => !names.includes(name))];
      const clause = [
        ...order.map(
          ({ name, direction, nulls }) => `${name}${direction.replace('.', ' ')}${nulls.replace('.nulls', ' nulls ')}`,
        ),
        'id',
        'region',
      ];
      const wanted = await gateway.database.query(`select id::text, region from spot order by ${clause.join(', ')}`);
      expect(wanted).toHaveLength(rows.length);
      const got = await pages(asked, by, limit);
      expect(got.map(({ id, region }) => ({ id, region }))).toEqual(wanted);
    }),
    { numRuns: cases(300) },
  );
});

test('NULLs in spite of a NOT NULL domain or a NOT VALID constraint are visited too', async () => {
  await gateway.database.query(`
    create domain sure as int not null;
    create table left_side (id int primary key);
    create table right_side (id int primary key, d sure);
    insert into left_side values (1), (2), (3); insert into right_side values (1, 5);
    create view outer_join as select l.id, r.d from left_side l left join right_side r using (id);
    create table late (id int primary key, n int); insert into late values (1, 5), (2, null), (3, null);
    ${serverVersion() >= 18 ? 'alter table late add constraint n_set not null n not valid' : ''}`);
  await gateway.gateway.refresh();
  expect(await ask(gateway, 'GET /api/outer-join?order=d,id&after=5&after=1')).toEqual([
    200,
    [
      { id: 2, d: null },
      { id: 3, d: null },
    ],
  ]);
  expect(await ask(gateway, 'GET /api/late?order=n&after=5&after=1')).toEqual([
    200,
    [
      { id: 2, n: null },
      { id: 3, n: null },
    ],
  ]);
});
