import { cases, startGateway } from '@pgway/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { postgrest } from './support.ts';
import { codePoint } from '../../core/test/support/code-point.ts';

const nasty = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 14 }),
  fc.constantFrom(
    "'; drop table item; --",
    '"',
    '"r"."id" = 1 or 1=1',
    '\\',
    '$1',
    '__proto__',
    'constructor',
    'eq.1',
    'not.in.(1,2)',
    'id,"a""b"',
    '*,item(*)',
    '99999999999999999999',
    '',
    'pgway.merged_rows',
  ),
);
const column = fc.oneof(fc.constantFrom('id', 'a"b', "c'd; --", 'loud'), nasty);
const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), nasty, fc.integer({ min: 1, max: 50 }));
const row = fc.array(fc.tuple(column, value), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs));
const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'PATCH', 'PUT', 'DELETE'),
  table: fc.constantFrom('item', 'item', 'item_view'),
  parameters: fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom('id', 'columns', 'on_conflict', 'select', 'order', 'limit', 'offset', 'or'), nasty),
      nasty,
    ),
    { maxLength: 4 },
  ),
  body: fc.oneof(
    row.map((one) => JSON.stringify(one)),
    fc.array(row, { maxLength: 3 }).map((all) => JSON.stringify(all)),
    nasty,
  ),
  type: fc.constantFrom('application/json', 'application/json', 'text/csv', 'application/x-www-form-urlencoded'),
  prefer: fc.constantFrom(
    '',
    'return=representation',
    'return=headers-only',
    'resolution=merge-duplicates, return=representation',
    'resolution=ignore-duplicates, missing=default',
    'handling=strict, max-affected=0',
  ),
});

test('no request makes a statement that the gateway did not mean, or fails in the gateway', async () => {
  const gateway = await startGateway(
    `create table item (id int primary key default 7, "a""b" text unique, "c'd; --" numeric, loud int generated always as (id) stored);
     create view item_view as select id, "a""b", id + 1 as next from item;
     create table canary (id int); insert into canary values (1);
     comment on table canary is 'disabled';`,
    postgrest(),
  );
  try {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, table, parameters, body, type, prefer }) => {
        const query = new URLSearchParams(parameters).toString();
        const headers = { 'content-type': type, ...(prefer === '' ? {} : { prefer }) };
        const sent = method === 'DELETE' ? {} : { body };
        const answer = await gateway.send(`${method} /rest/${table}?${query}`, { headers, ...sent });
        expect([answer.status, answer.body]).toSatisfy(([status]: [number]) => status < 500);
      }),
      { numRuns: cases(300) },
    );
    expect(await gateway.database.query('select id from canary')).toEqual([{ id: 1 }]);
    expect(gateway.observations.filter(({ kind }) => kind === 'endpoint-stale')).toEqual([]);
  } finally {
    await gateway.close();
  }
});
