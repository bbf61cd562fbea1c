import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { useGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith, moduleOf } from './support.ts';

/** A client that was generated before the functions of the server have changed. */

const gateway = useGateway(`
  create function hello(_name text) returns text language sql stable as $$ select 'Hello ' || _name $$;
  comment on function hello is 'HTTP';
  create function dropped() returns int language sql stable as 'select 1';
  comment on function dropped is 'HTTP';
  create function written(_note text) returns int language sql stable as 'select 1';
  comment on function written is 'HTTP';
  create function refused() returns int language plpgsql stable as $$ begin raise exception 'No.'; end $$;
  comment on function refused is 'HTTP';
  create function find_order() returns json language plpgsql as $$ begin
    perform set_config('response.status', '404', true);
    return '{"error": "no such order"}';
  end $$;
  comment on function find_order is 'HTTP
response_settings';
`);

type Client = Record<string, (parameters?: object) => Promise<unknown>>;

/** Imports a client of the current endpoints, which sends requests to the host. */
async function importClient(customHost = gateway.url): Promise<Client> {
  const options = { skipTypes: true, filePath: 'client.js', customHost };
  const { folder, remove } = await folderWith([
    { path: 'client.js', content: moduleOf(gateway.gateway.endpoints, options) },
    { path: 'package.json', content: '{ "type": "module" }' },
  ]);
  onTestFinished(remove);
  return (await import(pathToFileURL(join(folder, 'client.js')).href)) as Client;
}

async function messageOf(client: Client, name: string, parameters?: object): Promise<string> {
  return client[name]!(parameters).then(
    (value) => `returned ${String(value)}`,
    (error: Error) => error.message,
  );
}

test('the error of a call that the server no longer has says to generate the client again', async () => {
  const client = await importClient();
  await gateway.database.query(`
    drop function hello(text);
    create function hello(_first text, _last text) returns text language sql stable as $$ select 'Hello' $$;
    comment on function hello is 'HTTP';
    drop function dropped();
    alter function written(text) volatile;`);
  await gateway.gateway.refresh();
  expect([
    await messageOf(client, 'hello', { name: 'x' }),
    await messageOf(client, 'dropped'),
    await messageOf(client, 'written', { note: 'x' }),
    await messageOf(client, 'refused'),
  ]).toEqual([
    'The request has an unknown parameter: generate this client again if the server has changed since',
    'Not found: generate this client again if the server has changed since',
    'The path does not support this method: generate this client again if the server has changed since',
    'No.',
  ]);
});

test('the error of a 404 that a function sets does not', async () => {
  expect(await messageOf(await importClient(), 'findOrder')).toBe('{"error": "no such order"}');
});

test.each([
  ['text/html', 'Not found', 'Not found'],
  ['application/json', '{"title": "Not found"}', 'Not found'],
  ['application/problem+json', '{"title": "No such order"}', 'No such order'],
])('the error of a 404 of a proxy does not: %s %s', async (type, body, message) => {
  const proxy = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': type }).end(body);
  });
  onTestFinished(() => void proxy.close());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const client = await importClient(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  expect(await messageOf(client, 'refused')).toBe(message);
});
