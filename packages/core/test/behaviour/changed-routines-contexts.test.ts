import { installIdempotency } from '@pgway/core';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { roleByHeader } from '../auth/role-by-header.ts';

/* A routine that was created anew with another comment does not run, whatever its call is part of. */

const sql = `
  create table entry (id int generated always as identity, note text);
  create function add_entry(_note text) returns text language sql volatile as $$ insert into entry (note) values (_note) returning note $$;
  comment on function add_entry is 'HTTP POST';`;
const change = `drop function add_entry;
  create function add_entry(_note text) returns text language sql volatile as $$ insert into entry (note) values ('wrong') returning note $$;
  comment on function add_entry is 'HTTP POST\nauthorize'`;

async function notes({ database }: TestGateway): Promise<readonly unknown[]> {
  return (await database.query('select note from entry order by id')).map(({ note }) => note);
}

test('a batch', async () => {
  const gateway = await startGateway(sql, { poolSize: 1, batchPath: '/api/batch' });
  onTestFinished(() => gateway.close());
  const body = ['a', 'b'].map((note) => ({ method: 'POST', path: '/api/add-entry', body: { note } }));
  const send = async (): Promise<number> => (await gateway.send('POST /api/batch', { body })).status;
  for (let call = 0; call < 7; call++) expect(await send()).toBe(200);
  const before = await notes(gateway);
  await gateway.database.query(change);
  expect(await send()).toBe(401);
  expect(await notes(gateway)).toEqual(before);
});

test('a request with an idempotency key', async () => {
  const keyed = (text: string): string => text.replace(`'HTTP POST`, `'HTTP POST\nidempotent`);
  const gateway = await startGateway(
    `${installIdempotency({ schema: 'pgway', roles: ['public'] }).join(';\n')}; ${keyed(sql)}`,
    { poolSize: 1, idempotency: { schema: 'pgway' } },
  );
  onTestFinished(() => gateway.close());
  const send = async (key: string): Promise<readonly [number, string]> => {
    const headers = { 'idempotency-key': `"${key}"` };
    const { status, body } = await gateway.send('POST /api/add-entry', { body: { note: key }, headers });
    return [status, body];
  };
  for (let call = 0; call < 7; call++) expect(await send(`key-${call}`)).toEqual([200, `key-${call}`]);
  const before = await notes(gateway);
  await gateway.database.query(keyed(change));
  expect((await send('key-7'))[0]).toBe(401);
  expect(await notes(gateway)).toEqual(before);
});

test('a call under a database role', async () => {
  const gateway = await startGateway(`${sql} grant insert, select on entry to pg_monitor;`, {
    poolSize: 1,
    authentication: { schemes: [roleByHeader], databaseRole: { claim: 'db_role', anonymous: 'pg_monitor' } },
  });
  onTestFinished(() => gateway.close());
  const send = async (): Promise<number> => (await gateway.send('POST /api/add-entry', { body: { note: 'a' } })).status;
  for (let call = 0; call < 7; call++) expect(await send()).toBe(200);
  const before = await notes(gateway);
  await gateway.database.query(change);
  expect(await send()).toBe(401);
  expect(await notes(gateway)).toEqual(before);
});
