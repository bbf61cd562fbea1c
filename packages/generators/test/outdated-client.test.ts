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
`);

test('the error of a call that the server no longer has says to generate the client again', async () => {
  const { gateway: running, url } = gateway;
  const options = { skipTypes: true, filePath: 'client.js', customHost: url };
  const { folder, remove } = await folderWith([
    { path: 'client.js', content: moduleOf(running.endpoints, options) },
    { path: 'package.json', content: '{ "type": "module" }' },
  ]);
  onTestFinished(remove);
  await gateway.database.query(`
    drop function hello(text);
    create function hello(_first text, _last text) returns text language sql stable as $$ select 'Hello' $$;
    comment on function hello is 'HTTP';
    drop function dropped();
    alter function written(text) volatile;`);
  await running.refresh();
  const client = (await import(pathToFileURL(join(folder, 'client.js')).href)) as Record<
    string,
    (parameters?: object) => Promise<unknown>
  >;
  const messageOf = async (name: string, parameters?: object): Promise<string> =>
    client[name]!(parameters).then(
      (value) => `returned ${String(value)}`,
      (error: Error) => error.message,
    );
  expect([
    await messageOf('hello', { name: 'x' }),
    await messageOf('dropped'),
    await messageOf('written', { note: 'x' }),
    await messageOf('refused'),
  ]).toEqual([
    'The request has an unknown parameter: generate this client again if the server has changed since',
    'Not found: generate this client again if the server has changed since',
    'The path does not support this method: generate this client again if the server has changed since',
    'No.',
  ]);
});
