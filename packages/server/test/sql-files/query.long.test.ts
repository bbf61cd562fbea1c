import { sqlFilesSource } from '@pgway/core';
import { typescriptClientFiles } from '@pgway/generators';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';

/** The method QUERY (RFC 10008) for SQL files. */

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

async function start(): Promise<TestGateway> {
  const folder = await folderWith({
    'film.sql': '-- HTTP GET\n-- single\nselect id, title from film where title = :title',
    'tags.sql':
      '-- HTTP GET\n-- cached\n-- single\nselect array[title, clock_timestamp()::text] as tags from film where title = :title',
    'none.sql':
      '-- HTTP GET\n-- cached\n-- single\nselect array[title] as tags from film where title = :title and id = 7',
    'computed.sql': '-- HTTP GET\n-- param twice = select :n::int * 2\n-- scalar\nselect :twice::int',
    'several.sql':
      '-- HTTP GET\n-- result films\nselect id from film where id = any (:ids::int[]);\n-- result count\n-- scalar\nselect count(*)::int from film',
    'writes.sql': '-- HTTP GET\ninsert into film values (:id, $$x$$) returning id',
  });
  const gateway = await startGateway(
    `create table film (id int primary key, title text not null); insert into film values (1, 'Alien');`,
    { routineSources: [sqlFilesSource({ files: '*.sql', folder })] },
  );
  onTestFinished(() => gateway.close());
  return gateway;
}

test.each([
  ['film', json, '{"title":"Alien"}', '200 {"id":1,"title":"Alien"}'],
  ['film', form, 'title=Alien', '200 {"id":1,"title":"Alien"}'],
  ['film', json, '{"title":"x"}', '204 '],
  ['none', json, '{"title":"Alien"}', '200 null'],
  ['computed', json, '{"n":4}', '200 8'],
  ['several', json, '{"ids":[1,2]}', '200 {"films":[1],"count":1}'],
  ['computed', json, '{"n":4,"twice":9}', '400'],
  ['computed', form, 'n=4&twice=9', '400'],
  ['film', json, '{"title":"a","title":"b"}', '400'],
  ['film', json, '[]', '400'],
  ['film', json, '{"title":"Alien"', '400'],
  ['film', { 'content-type': 'text/plain' }, 'title=Alien', '415'],
  ['film?title=x', json, '{"title":"Alien"}', '400'],
  ['film', { ...json, 'x-http-method-override': 'POST' }, '{"title":"x"}', '204 '],
  ['writes', json, '{"id":5}', '405'],
])('QUERY /api/%s %j %s', async (path, headers, body, answer) => {
  const { send, database } = await start();
  const response = await send(`QUERY /api/${path}`, { headers, body });
  expect(response.status < 400 ? `${response.status} ${response.body}` : String(response.status)).toBe(answer);
  expect(response.headers.get('location')).toBe(headers === form && response.status === 200 ? `?${body}` : null);
  expect(await database.query('select count(*)::int from film')).toEqual([{ count: 1 }]);
});

test('the cache shares responses with GET, and not between values', async () => {
  const { send } = await start();
  const first = await send('QUERY /api/tags', { headers: json, body: '{"title":"Alien"}' });
  expect((await send('GET /api/tags?title=Alien')).body).toBe(first.body);
  expect((await send('QUERY /api/tags', { headers: form, body: 'title=Alien' })).body).toBe(first.body);
  expect((await send('QUERY /api/tags', { headers: json, body: '{"title":"x"}' })).body).toBe('null');
  expect((await send('GET /api/tags?title=x')).body).toBe('null');
});

test('the client sends it where a URL would be too long', async () => {
  const started = await start();
  const options = { filePath: 'client.js', headerLines: [], createSeparateTypeFile: false, skipTypes: true };
  const [file] = typescriptClientFiles(started.gateway.endpoints, options, new Date(0));
  const methods: string[] = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    methods.push(init!.method!);
    return (await started.gateway.fetch(new Request(new URL(input as string, 'http://localhost'), init)))!;
  };
  onTestFinished(() => void (globalThis.fetch = fetch));
  const client = (await import(`data:text/javascript,${encodeURIComponent(file!.content)}`)) as Readonly<
    Record<string, (request: object) => Promise<unknown>>
  >;
  const long = 'x'.repeat(10_000);
  expect(await client['film']!({ title: 'Alien' })).toEqual({ id: 1, title: 'Alien' });
  expect(await client['film']!({ title: long })).toBeNull();
  expect(await client['none']!({ title: long })).toBeNull();
  expect(await client['several']!({ ids: Array.from({ length: 5000 }, (_, index) => index) })).toEqual({
    films: [1],
    count: 1,
  });
  expect(methods).toEqual(['GET', 'QUERY', 'QUERY', 'QUERY']);
});
