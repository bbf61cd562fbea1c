import { sqlFilesSource } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { serveMcp } from '../mcp/support.ts';
import { folderWith } from '../support/folder.ts';

test('files are tools of MCP', async () => {
  const folder = await folderWith({
    'films.sql': `-- Films whose title begins with a text.
-- HTTP GET
-- mcp
-- param limit default 20
select film_id, title from film where title ilike :text || '%' order by title limit :limit`,
    'add_film.sql': `-- Adds a film.
-- HTTP POST
-- mcp
-- result added
-- single
insert into film (title) values (:title) returning film_id;
-- single
select count(*) as films from film;`,
  });
  const gateway = await startGateway(
    `create table film (film_id int generated always as identity primary key, title text not null);
    insert into film (title) values ('Alien'), ('Brazil');`,
    { routineSources: [sqlFilesSource({ files: '*.sql', folder })] },
  );
  onTestFinished(() => gateway.close());
  const client = await (await serveMcp(gateway)).connect();
  const { tools } = await client.listTools();
  expect(tools.toSorted((one, other) => one.name.localeCompare(other.name))).toMatchObject([
    {
      name: 'add_film',
      description: expect.stringContaining('Adds a film.'),
      inputSchema: { type: 'object', properties: { title: { type: ['string', 'null'] } }, required: ['title'] },
      annotations: { readOnlyHint: false },
    },
    {
      name: 'films',
      description: expect.stringContaining('Films whose title begins with a text.'),
      inputSchema: {
        properties: { text: { type: ['string', 'null'] }, limit: { type: ['integer', 'null'] } },
        required: ['text'],
      },
      annotations: { readOnlyHint: true },
    },
  ]);
  const call = async (name: string, values: Record<string, unknown>): Promise<unknown> => {
    const { structuredContent, content } = await client.callTool({ name, arguments: values });
    return structuredContent ?? content;
  };
  expect(await call('films', { text: 'a' })).toEqual({ rows: [{ filmId: 1, title: 'Alien' }] });
  expect(await call('add_film', { title: 'Charade' })).toEqual({ added: 3, result2: 3 });
  expect(await call('films', {})).toEqual([
    { type: 'text', text: expect.stringContaining('Missing in the query string: \\"text\\" (text).') },
  ]);
});
