import { sqlFilesSource } from '@pgway/core';
import { openApiDocument, typescriptClientFiles } from '@pgway/generators';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';

/** Parameters and results of SQL files in the generated client and in OpenAPI. */

async function documentsOf(
  sql: string,
  files: Readonly<Record<string, string>>,
): Promise<{ client: string; paths: unknown }> {
  const source = sqlFilesSource({ files: '*.sql', folder: await folderWith(files) });
  const started = await startGateway(sql, { routineSources: [source] });
  onTestFinished(() => started.close());
  const options = { filePath: 'client.ts', headerLines: [], createSeparateTypeFile: false };
  const [client] = typescriptClientFiles(started.gateway.endpoints, options, new Date(0));
  return { client: client!.content, paths: openApiDocument(started.gateway.endpoints)['paths'] };
}

test('defaults are optional in the client and OpenAPI', async () => {
  const { client, paths } = await documentsOf('', {
    'page.sql': '-- HTTP GET\n-- param size int default 20\nselect n from generate_series(:start::int, :size) n',
  });
  const integer = { in: 'query', description: 'integer', schema: { type: 'integer', format: 'int32' } };
  expect(paths).toMatchObject({
    '/api/page': {
      get: {
        parameters: [
          { name: 'start', required: true, ...integer },
          { name: 'size', ...integer },
        ],
      },
    },
  });
  expect(client).toContain('export interface IPageRequest {\n  start: number | null;\n  size?: number | null;\n}\n');
});

test('`single` is an object in the client', async () => {
  const { client } = await documentsOf('create table film (id int primary key, title text not null)', {
    'film.sql': '-- HTTP GET\n-- single\nselect id, title from film where id = :id',
    'films.sql': '-- HTTP GET\nselect id, title from film',
  });
  expect(client).toContain('export interface IFilmResponse {\n  id: number;\n  title: string;\n}\n');
  expect(client).toMatch(/export async function film\([^)]*\): Promise<IFilmResponse \| null>/);
  expect(client).toMatch(/export async function films\([^)]*\): Promise<IFilmsResponse\[\]>/);
});
