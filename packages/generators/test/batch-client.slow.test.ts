import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installIdempotency } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf, compile, folderWith } from './support.ts';

/** The function `batch` of generated clients, against a gateway. */

const sql = `
  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};
  create table customer (id int generated always as identity primary key, name text unique);
  create function add_customer(_name text) returns customer language sql
  as $$ insert into customer (name) values (_name) returning * $$;
  comment on function add_customer is 'HTTP POST';
  create function add_note(_customer_id int, _note json) returns json language sql
  as $$ select json_build_object('customer', _customer_id, 'note', _note) $$;
  comment on function add_note is 'HTTP POST';
  create function get_count() returns bigint language sql stable as $$ select count(*) from customer $$;
  comment on function get_count is 'HTTP GET';
  create function greeting(_name text) returns text language sql stable as $$ select 'hello ' || _name $$;
  comment on function greeting is 'HTTP GET /api/greeting/{_name}';
  create function must_add(_name text) returns int language sql
  as $$ insert into customer (name) values (_name) returning id $$;
  comment on function must_add is 'HTTP POST
  idempotent required';
`;

test('calls of a batch have the results and errors of calls of their own', async () => {
  const gateway = await startGateway(sql, { batchPath: '/api/batch' });
  onTestFinished(() => gateway.close());
  const options = { customHost: gateway.url, batchPath: '/api/batch', defaultJsonType: 'unknown' };
  const { endpoints } = gateway.gateway;
  const use = `import { addCustomer, addNote, batch, getCount, greetingName, reference } from './client.ts';
    export async function use(): Promise<number | null> {
      const [customer, note, count, text] = await batch((tx) => [
        addCustomer({ name: 'Ada' }, tx),
        addNote({ customerId: reference(0, 'id'), note: {} }, tx),
        getCount(tx),
        greetingName({ name: 'x' }, tx),
      ], { isolation: 'serializable', idempotencyKey: 'x' });
      const id: number | null = customer?.id ?? null;
      const greeted: string = text;
      return note === greeted ? id : count;
    }`;
  const types = clientOf(endpoints, { ...options, filePath: 'client.ts' });
  expect(await compile([...types, { path: 'use.ts', content: use, timestampLines: [] }])).toBe('');

  const { folder, remove } = await folderWith(
    clientOf(endpoints, { ...options, skipTypes: true, filePath: 'client.mts' }),
  );
  onTestFinished(remove);
  const client = await import(pathToFileURL(join(folder, 'client.mjs')).href);
  const { addCustomer, addNote, batch, getCount, greetingName, mustAdd, reference } = client;
  const note = { $ref: '0/id' };
  const results = await batch((tx: object) => [
    addCustomer({ name: 'Ada' }, tx),
    addNote({ customerId: reference(0, 'id'), note: { text: 'é' } }, tx),
    addNote({ customerId: 7, note }, tx),
    getCount(tx),
    greetingName({ name: 'a/b' }, tx),
  ]);
  expect(results).toEqual([
    { id: 1, name: 'Ada' },
    { customer: 1, note: { text: 'é' } },
    { customer: 7, note },
    1,
    'hello a/b',
  ]);
  const failing = batch((tx: object) => [addCustomer({ name: 'Bob' }, tx), addCustomer({ name: 'Ada' }, tx)]);
  await expect(failing).rejects.toMatchObject({ name: 'GatewayError', status: 409, problem: { pointer: '/1' } });
  expect(await getCount()).toBe(1);
  const both = batch((tx: object) => [
    addCustomer({ name: 'Eve' }, tx),
    addNote({ customerId: reference(0, 'id'), note }, tx),
  ]);
  await expect(both).rejects.toThrow('both references and data');
  expect(await getCount()).toBe(1);

  const once = (name: string, options?: object): Promise<unknown> =>
    batch((tx: object) => [mustAdd({ name }, tx)], options);
  const added = await once('Lin', { idempotencyKey: 'key-1' });
  expect(await once('Lin', { idempotencyKey: 'key-1' })).toEqual(added);
  await expect(once('Lin')).rejects.toMatchObject({ status: 409, problem: { code: '23505' } });
  const keyOfCall = () => batch((tx: object) => [mustAdd({ name: 'Mia' }, { ...tx, idempotencyKey: 'key-2' })]);
  expect(await keyOfCall()).toEqual(await keyOfCall());
  expect(await getCount()).toBe(3);
});
