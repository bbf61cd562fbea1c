import { functionsSource, sqlFilesSource } from '@pgway/core';
import { openApiDocument, type OpenApiOptions, typescriptClientFiles } from '@pgway/generators';
import { startGateway, type TestGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { serveMcp } from '../mcp/support.ts';
import { runPgwayTest } from '../sql-tests/support.ts';
import { folderWith } from '../support/folder.ts';

/** `single` without a row: the response, documents, clients, tools and tests agree. A function that returns NULL is the same. */

const sql = `
  create type pair as (a int, b text);
  create table film (id int primary key, title text not null, tags text[] not null default '{new}', data bytea not null default 'x');
  insert into film (id, title) values (1, 'Alien');
  create function film_of(id int) returns film language sql stable as 'select film from film where film.id = film_of.id';
  comment on function film_of is 'HTTP GET
mcp';
  create function tags_of(id int) returns text[] language sql stable as 'select tags from film where film.id = tags_of.id';
  comment on function tags_of is 'HTTP GET
mcp';`;

const single = (query: string, lines = ''): string =>
  `-- HTTP GET\n-- mcp\n-- single\n${lines}${query} from film where id = :id`;

const files = {
  'film.sql': single('select id, title'),
  'tags.sql': single('select tags'),
  'pairs.sql': single('select (id, title)::pair as pair'),
  'json.sql': single('select to_json(title) as json'),
  'title.sql': single('select title'),
  'title_null.sql': single('select title', '-- response_null null_literal\n'),
  'title_204.sql': single('select title', '-- response_null 204\n'),
  'number.sql': single('select id'),
  'number_204.sql': single('select id', '-- response_null 204\n'),
  'data.sql': single('select data'),
  'data_204.sql': single('select data', '-- response_null 204\n'),
  'raw.sql': single('select id, title', '-- raw\n'),
  'last.sql': '-- HTTP GET\n-- mcp\n-- result last\nselect 1;\n-- single\nselect id, title from film where id = :id',
  'several.sql':
    '-- HTTP GET\n-- mcp\n-- single\nselect id, title from film where id = :id;\n-- single\nselect title from film where id = :id',
};

/** Without a row: the response, the result of the client and the structured content of MCP, or its text. */
const answers: readonly (readonly [path: string, response: string, client: unknown, tool: unknown])[] = [
  ['film', '204 ', null, { row: null }],
  ['film-of', '204 ', null, { row: null }],
  ['last', '204 ', null, { row: null }],
  ['tags', '200 null', null, { value: null }],
  ['tags-of', '200 null', null, { value: null }],
  ['pairs', '204 ', null, { row: null }],
  ['json', '200 null', null, { value: null }],
  ['title', '200 ', '', { value: '' }],
  ['title-null', '200 NULL', 'NULL', { value: 'NULL' }],
  ['title-204', '204 ', null, { value: null }],
  ['number', '200 ', null, { value: null }],
  ['number-204', '204 ', null, { value: null }],
  ['data', '200 ', new Blob([], { type: 'application/octet-stream' }), null],
  ['data-204', '204 ', null, null],
  ['raw', '200 ', '', [{ type: 'text', text: '' }]],
  [
    'several',
    '200 {"result1":null,"result2":null}',
    { result1: null, result2: null },
    { result1: null, result2: null },
  ],
];

async function start(): Promise<TestGateway> {
  const source = sqlFilesSource({ files: '*.sql', folder: await folderWith(files) });
  const gateway = await startGateway(sql, { routineSources: [source, functionsSource()] });
  onTestFinished(() => gateway.close());
  return gateway;
}

function clientOf({ gateway }: TestGateway, skipTypes = false): string {
  const options = { filePath: 'client.ts', headerLines: [], createSeparateTypeFile: false, skipTypes };
  return typescriptClientFiles(gateway.endpoints, options, new Date(0))[0]!.content;
}

/** Imports the client, whose requests the gateway answers. */
async function importClient(
  started: TestGateway,
): Promise<Readonly<Record<string, (request: object) => Promise<unknown>>>> {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) =>
    (await started.gateway.fetch(new Request(new URL(input as string, 'http://localhost'), init)))!;
  onTestFinished(() => void (globalThis.fetch = fetch));
  const module = clientOf(started, true);
  return (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as never;
}

const camelCase = (path: string): string => path.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

test('responses, and what the client makes of them', async () => {
  const started = await start();
  const client = await importClient(started);
  const found = await Promise.all(
    answers.map(async ([path, , , tool]) => {
      const { status, body } = await started.send(`GET /api/${path}?id=7`);
      return [path, `${status} ${body}`, await client[camelCase(path)]!({ id: 7 }), tool];
    }),
  );
  expect(found).toEqual(answers);
  expect(await client['film']!({ id: 1 })).toEqual({ id: 1, title: 'Alien' });
  expect(await client['tags']!({ id: 1 })).toEqual(['new']);
});

test('types of the client have null once', async () => {
  const client = clientOf(await start());
  const types = answers.map(([path]) => [
    path,
    new RegExp(`function ${camelCase(path)}\\([^)]*\\): Promise<(.*)> \\{`).exec(client)?.[1],
  ]);
  expect(Object.fromEntries(types)).toEqual({
    film: 'IFilmResponse | null',
    'film-of': 'IFilmOfResponse | null',
    last: 'ILastResponse | null',
    tags: '(string | null)[] | null',
    'tags-of': '(string | null)[] | null',
    pairs: 'IPairsResponse | null',
    json: 'string | null',
    title: 'string',
    'title-null': 'string',
    'title-204': 'string | null',
    number: 'number | null',
    'number-204': 'number | null',
    data: 'Blob',
    'data-204': 'Blob | null',
    raw: 'string',
    several: 'ISeveralResponse',
  });
  expect(client).not.toContain('null | null');
});

test.each(['3.1', '3.2'] as const)('OpenAPI %s has the statuses', async (specification) => {
  const { gateway } = await start();
  const options: Partial<OpenApiOptions> = { specification };
  const { paths } = openApiDocument(gateway.endpoints, options) as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
  };
  for (const [path, response] of answers) {
    const operations = Object.values(paths[`/api/${path}`]!);
    // Every operation of the path: with 3.2, QUERY too.
    for (const { responses } of operations) {
      const statuses = Object.keys(responses).filter((status) => status.startsWith('2'));
      expect([path, statuses]).toEqual([path, response.startsWith('204') ? ['200', '204'] : ['200']]);
    }
    expect(operations).toHaveLength(specification === '3.2' ? 2 : 1);
  }
});

test('tools of MCP have a result that their schema allows', async () => {
  const client = await (await serveMcp(await start())).connect();
  const { tools } = await client.listTools();
  // Bytes are not a result of tools.
  const expected = answers.filter(([path]) => !path.startsWith('data'));
  const found = await Promise.all(
    expected.map(async ([path, response, inClient]) => {
      const name = path.replaceAll('-', '_');
      // The client of MCP compares structured content with the schema of the tool.
      const { structuredContent, content } = await client.callTool({ name, arguments: { id: 7 } });
      return [path, response, inClient, structuredContent ?? content];
    }),
  );
  expect(found).toEqual(expected);
  expect(tools.find(({ name }) => name === 'film')?.outputSchema).toMatchObject({
    properties: { row: { type: ['object', 'null'], properties: { id: {}, title: {} }, required: ['id', 'title'] } },
    required: ['row'],
  });
});

test('pgway test', async () => {
  const lines = answers.map(([path, response]) => {
    const [, status, body] = /^(\d+) (.*)$/.exec(response)!;
    const expected = body === '' || !/^[{n]/.test(body!) ? '' : ` body ${body}`;
    return `-- GET /api/${path}?id=7\n-- expect ${status}${expected}\n`;
  });
  const { code, stdout } = await runPgwayTest({
    sql,
    files: { ...files, 'single.test.sql': `-- test no row\n${lines.join('')}` },
    configuration: { sqlFiles: '*.sql' },
  });
  expect(stdout).toContain('ok     no row');
  expect(code).toBe(0);
});
