import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { httpFile, openApi, StartError, typescriptClient } from '@pgway/core';
import { startGateway, useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith, moduleOf } from './support.ts';

const sql = `create function one() returns int language sql stable as $$ select 1 /* one */ $$;
comment on function one is 'HTTP';`;

test('a gateway writes at its start and at a refresh, and a refusal of the writer fails both', async () => {
  const { folder, remove } = await folderWith([]);
  const filePath = join(folder, 'client.ts');
  const handlers = (fileOverwrite: boolean): Parameters<typeof startGateway>[1] => ({
    endpointCreateHandlers: [
      typescriptClient({ filePath, fileOverwrite, createSeparateTypeFile: false }),
      httpFile({ folder, fileOverwrite }),
      openApi({ filePath: join(folder, 'openapi.json'), fileOverwrite }),
    ],
  });
  const started = await startGateway(sql, handlers(true));
  try {
    expect((await readdir(folder)).toSorted()).toEqual(['client.ts', 'database.http', 'openapi.json']);
    await started.database.query(`create function two() returns int language sql stable as 'select 2';
      comment on function two is 'HTTP';`);
    await started.gateway.refresh();
    expect(await readFile(filePath, 'utf8')).toContain('export async function two(');
    await expect(startGateway(sql, handlers(false))).rejects.toThrow(StartError);
    await expect(startGateway(sql, handlers(false))).rejects.toThrow(
      `${JSON.stringify(filePath)}: there is another file already`,
    );
  } finally {
    await started.close();
    await remove();
  }
});

const full = useGateway(sql, { readDefinitions: true });

test('commentHeader full has the definition of the routine, which cannot end the comment', () => {
  const [endpoint] = full.gateway.endpoints;
  expect(endpoint!.definition).toMatch(/^CREATE OR REPLACE FUNCTION public\.one\(\)/);
  expect(moduleOf(full.gateway.endpoints, { commentHeader: 'full' })).toContain(`/**
 * CREATE OR REPLACE FUNCTION public.one()
 *  RETURNS integer
 *  LANGUAGE sql
 *  STABLE
 * AS $function$ select 1 /* one *\\/ $function$
 *
 * @returns {number | null}
 * @remarks GET /api/one
 * @see FUNCTION public.one
 */`);
});
