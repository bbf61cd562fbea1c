import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from '@pgway/core';
import { httpFile, openApi, openApiDocument, typescriptClient, typescriptClientFiles } from '@pgway/generators';
import { startGateway, useGateway } from '@pgway/testing';
import { expect, test } from 'vitest';
import { folderWith, moduleOf } from './support.ts';

const sql = `create function one() returns int language sql stable as $$ select 1 /* one */ $$;
comment on function one is 'HTTP';`;

test('a gateway writes at start and at a refresh; an error of the writer fails both', async () => {
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
      `${JSON.stringify(filePath)}: the file exists with other content`,
    );
  } finally {
    await started.close();
    await remove();
  }
});

test('name collisions are diagnostics of the gateway, each once', async () => {
  const { folder, remove } = await folderWith([]);
  const twice = `${sql}
    create function one_() returns int language sql stable as 'select 1';
    comment on function one_ is 'HTTP GET /api/one_';`;
  const told: string[] = [];
  const started = await startGateway(twice, {
    logAnnotationSetInfo: false,
    endpointCreateHandlers: [
      typescriptClient({ filePath: join(folder, 'client.ts') }),
      openApi({ filePath: join(folder, 'openapi.json') }),
      // Handlers of the host may return anything.
      (endpoints) => void endpoints.length,
    ],
    observer: (observation) => {
      if (observation.kind === 'diagnostic') told.push(observation.diagnostic.message);
    },
  });
  try {
    const message =
      'GET /api/one_ is called "one2" by generated clients and documents, because public.one() (GET /api/one) has the name ' +
      'without the number; give one of them another path to choose the names yourself';
    expect(told).toEqual([message]);
    expect(started.gateway.diagnostics).toEqual([
      { severity: 'warning', code: 'name-collision', routine: 'public.one_()', line: null, message },
    ]);
  } finally {
    await started.close();
    await remove();
  }
});

const full = useGateway(sql, { readDefinitions: true });

test('commentHeader full contains the definition of the routine, escaped', () => {
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

test('of columns with one key, documents and clients know the value that readers of JSON see, the last one', async () => {
  const started = await startGateway(
    `create type place as (id int, city text);
     create function homes() returns table (id int, home place, work place) language sql stable as $$
       values (1, row(2, 'London')::place, row(3, 'Leeds')::place) $$;
     comment on function homes is 'HTTP';`,
    { compositeColumns: 'flat' },
  );
  try {
    const { endpoints } = started.gateway;
    expect(JSON.stringify(openApiDocument(endpoints))).toContain('"required":["id","city"]');
    const options = { filePath: 'client.ts', createSeparateTypeFile: false };
    const [client] = typescriptClientFiles(endpoints, options, new Date(0));
    const row = /interface \w*Homes\w*Response \{[^}]*\}/.exec(client!.content)?.[0] ?? '';
    expect(row.match(/\bid\b/g)).toHaveLength(1);
  } finally {
    await started.close();
  }
});

test('OpenAPI does not have the parameter that receives the metadata of files', async () => {
  const started = await startGateway(
    `create function keep(_title text, _meta json) returns json language sql as 'select _meta';
     comment on function keep is 'HTTP POST
     upload for large_object, _meta as metadata
     param_type query';`,
  );
  try {
    const { paths } = openApiDocument(started.gateway.endpoints);
    expect(JSON.stringify(paths)).toContain('"title"');
    expect(JSON.stringify(paths)).not.toContain('"meta"');
  } finally {
    await started.close();
  }
});
