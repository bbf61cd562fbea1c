import { sqlFilesSource } from '@pgway/core';
import { expect, onTestFinished, test } from 'vitest';
import { startTenants } from '../tenants/support.ts';
import { createFolder } from './folder.ts';

test('the files of tenants run in their databases, and each schema has its own types', async () => {
  const folder = await createFolder({
    'films.sql': '-- HTTP\nselect film_id, title from film where title ilike :text order by 1',
    'both.sql': '-- HTTP\nselect title from film order by 1;\nselect film_id as id, title from film order by 1;',
    'add.sql': '-- HTTP POST\ninsert into film (title) values (:title) returning film_id',
  });
  const sql = 'create table film (film_id int generated always as identity, title text not null);';
  const tenants = await startTenants(['acme', 'globex'], sql, {
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
  });
  onTestFinished(() => tenants.close());
  const answer = async (tenant: string, line: string, body?: object): Promise<string> => {
    const response = await tenants.send(tenant, line, body === undefined ? {} : { body });
    return `${response.status} ${await response.text()}`;
  };
  expect(await answer('acme', 'POST /api/add', { title: 'Alien' })).toBe('200 [1]');
  expect(await answer('acme', 'GET /api/films?text=%25')).toBe('200 [{"filmId":1,"title":"Alien"}]');
  expect(await answer('globex', 'GET /api/films?text=%25')).toBe('200 []');
  await tenants.databases['globex']!.query(
    `alter table film alter film_id drop identity; alter table film alter film_id type text; insert into film values ('b', 'Brazil')`,
  );
  expect(await answer('globex', 'GET /api/films?text=b%25')).toBe('200 [{"filmId":"b","title":"Brazil"}]');
  expect(await answer('globex', 'GET /api/both')).toBe(
    '200 {"result1":["Brazil"],"result2":[{"id" : "b", "title" : "Brazil"}]}',
  );
  expect(await answer('acme', 'GET /api/both')).toBe(
    '200 {"result1":["Alien"],"result2":[{"id" : 1, "title" : "Alien"}]}',
  );
  expect(await answer('acme', 'GET /api/films?text=a%25')).toBe('200 [{"filmId":1,"title":"Alien"}]');
});
