import { createGateway } from '@pgway/core';
import { useDatabase } from '@pgway/testing';
import { expect, test } from 'vitest';
import { gatewayOptions } from '../src/gateway-options.ts';
import { load } from './support/configuration.ts';

const database = useDatabase(`
  create table film (id int primary key, title text);
  comment on table film is 'HTTP';
  create table secret (id int primary key, title text);
  create function hello() returns text language sql stable as $$ select 'hello' $$;
  comment on function hello is 'HTTP';
`);

/** Returns the paths of GET, and what the start says about tables. */
async function published(settings: object): Promise<readonly string[]> {
  const { configuration } = await load({ files: { 'pgway.json': settings } });
  const gateway = await createGateway(await gatewayOptions(configuration, database.connectionString, {}));
  await gateway.close();
  const paths = gateway.endpoints.filter(({ method }) => method === 'GET').map(({ path }) => path);
  const told = gateway.diagnostics.map(({ severity, routine, message }) => `${severity} ${routine}: ${message}`);
  return [...new Set(paths)].toSorted().concat(told);
}

const routines = ['/api/hello'];

test('a table opts in with its comment, whatever the mode of routines is', async () => {
  expect(await published({})).toEqual(['/api/film', ...routines]);
  expect(await published({ gateway: { commentsMode: 'parseAll' } })).toEqual(['/api/film', ...routines]);
  expect(await published({ gateway: { commentsMode: 'ignore' } })).toEqual(routines);
});

test('crud.enabled true applies the mode to tables; false is a warning for a table that says HTTP', async () => {
  const all = { gateway: { commentsMode: 'parseAll' }, crud: { enabled: true } };
  expect(await published(all)).toEqual(['/api/film', ...routines, '/api/secret']);
  expect(await published({ crud: { enabled: true } })).toEqual(['/api/film', ...routines]);
  expect(await published({ crud: { enabled: false } })).toEqual([
    ...routines,
    'warning public.film: the comment has an HTTP line, but tables and views are not published; set crud.enabled of the server, or add crudSource() to the sources of the gateway',
  ]);
});
