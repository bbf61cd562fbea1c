import { useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { ask, postgrest } from './support.ts';

/** A response is held as a whole: its size is limited. */
const gateway = useGateway(
  `create table item (id int primary key, body text); insert into item select 1, repeat('x', 65 * 1024 * 1024);`,
  postgrest(),
);

test('a response that is too large is refused, and its write undone', async () => {
  expect(await ask(gateway, 'GET /rest/item?select=body')).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"54000","message":"The response is too large","details":"It has 68157453 bytes; the limit is 67108864","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
  `);
  for (const accept of [
    'text/csv',
    'application/vnd.pgrst.object+json',
    'application/vnd.pgrst.array+json;nulls=stripped',
  ]) {
    expect(await ask(gateway, 'GET /rest/item?select=body', { headers: { accept } })).toMatch(/^400[^]*"code":"54000"/);
  }
  const representation = { headers: { prefer: 'return=representation' }, body: { id: 2 } };
  expect(await ask(gateway, 'PATCH /rest/item?id=eq.1&select=body', representation)).toMatchInlineSnapshot(`
    "400
    content-type: application/json; charset=utf-8

    {"code":"54000","message":"The response is too large","details":"It has 68157453 bytes; the limit is 67108864","hint":"Request fewer rows with \\"limit\\", or fewer columns and related rows with \\"select\\""}"
  `);
  expect(await ask(gateway, 'GET /rest/item?select=id')).toMatch(/^200[^]*\[{"id":1}\]$/);
  expect(await ask(gateway, 'PATCH /rest/item?id=eq.1&select=id', representation)).toMatch(/^200[^]*\[{"id":2}\]$/);
});
