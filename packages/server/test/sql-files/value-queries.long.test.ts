import { functionsSource, installIdempotency, sqlFilesSource } from '@pgway/core';
import { httpFiles, openApiDocument, type OpenApiOptions, typescriptClientFiles } from '@pgway/generators';
import { postgrestSource } from '@pgway/postgrest';
import { freshDatabase, startGateway, type TestGateway } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pageData } from '../../src/pages/page-data.ts';
import { run } from '../../src/cli/run.ts';
import { people } from '../../../core/test/events/people.ts';
import { form } from '../../../core/test/uploads/forms.ts';
import { serveMcp } from '../mcp/support.ts';
import { runPgwayTest } from '../sql-tests/support.ts';
import { folderWith } from '../support/folder.ts';
import { parseConfiguration } from '../support/parse-configuration.ts';
import { createTestProcess } from '../support/process-context.ts';

/** A parameter that a query sets, `param <name> = select …`, is an input of nothing: clients neither see nor set it. */

const sql = `
  create table account (email text primary key, level int, owner text);
  insert into account values ('a@x', 3, 'ada'), ('b@x', 5, 'bob');
  create table taken (email text, level int);
  create function level_of(email text, hushed int default 99) returns int language sql stable as 'select hushed';
  comment on function level_of is 'HTTP GET
mcp
param hushed = select level from account where email = :email';
  create procedure take(email text, hushed int default 99, inout left_over int default null) language plpgsql as
    $$ begin insert into taken values (email, hushed); left_over := hushed; end $$;
  comment on procedure take is 'HTTP POST
mcp
param hushed = select level from account where email = :email';
  create function keep(email text, hushed int default 99) returns int language sql as 'insert into taken values (email, hushed) returning level';
  comment on function keep is 'HTTP POST
idempotent
param hushed = select level from account where email = :email';
  create function receive(email text, meta json default null, hushed int default 99) returns int language sql as 'select hushed';
  comment on function receive is 'HTTP POST
upload for large_object
param meta is upload metadata
param hushed = select level from account where email = :email';
  create function in_path(email text, hushed int default 99, head json default null) returns int language sql stable as 'select hushed';
  comment on function in_path is 'HTTP GET /api/in-path/{email}
request_headers parameter
request_headers_parameter_name head
param hushed = select level from account where email = :email';
  create function kept(email text, hushed int default 99) returns int language sql stable as 'select hushed';
  comment on function kept is 'HTTP GET
cached
param hushed = select level from account where email = :email';
  create function raw(email text, note text, hushed int default 99) returns int language sql as 'select hushed';
  comment on function raw is 'HTTP POST
body_parameter_name note
param hushed = select level from account where email = :email';
  ${installIdempotency({ schema: 'pgway', roles: [] }).join(';\n')};`;

const query = 'select level from account where email = :email';

const files = {
  'file.sql': `-- HTTP GET\n-- mcp\n-- param hushed = ${query}\n-- single\nselect :hushed::int as level, :email as email`,
  'numbered.sql': `-- HTTP GET\n-- param $1 hushed\n-- param $2 email text\n-- param hushed = ${query}\n-- scalar\nselect $1::int where $2 is not null`,
  'write.sql': `-- HTTP POST\n-- mcp\n-- param hushed = ${query}\ninsert into taken values (:email, :hushed) returning level`,
};

const paths = ['file', 'numbered', 'write', 'level-of', 'take', 'keep', 'receive', 'kept', 'raw'];

async function start(options: Parameters<typeof startGateway>[1] = {}): Promise<TestGateway> {
  const source = sqlFilesSource({ files: '*.sql', folder: await folderWith(files) });
  const gateway = await startGateway(sql, {
    routineSources: [source, functionsSource()],
    authentication: { schemes: [people().scheme] },
    batchPath: '/api/batch',
    ...options,
  } as never);
  onTestFinished(() => gateway.close());
  expect(gateway.gateway.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return gateway;
}

describe('no document has it as an input', () => {
  test.each(['3.1', '3.2'] as const)('OpenAPI %s', async (specification) => {
    const { gateway } = await start();
    const options: Partial<OpenApiOptions> = { specification };
    const document = openApiDocument(gateway.endpoints, options);
    const operations = document['paths'] as Readonly<Record<string, object>>;
    for (const path of paths) expect(JSON.stringify(operations[`/api/${path}`])).toMatch(/"email"|\bemail\b/);
    // The summary is the signature of a function in the database.
    const shown = JSON.stringify(document, (key, value: unknown) => (key === 'summary' ? undefined : value));
    expect(shown.match(/.{40}hushed.{40}/i)).toBeNull();
  });

  test('the client and request files', async () => {
    const { gateway } = await start();
    const client = typescriptClientFiles(gateway.endpoints, { filePath: 'client.ts', headerLines: [] }, new Date(0));
    // The signature in the comment of a function has all its parameters.
    const code = client.map(({ content }) => content.replaceAll(/\/\*\*[^]*?\*\//g, '')).join('\n');
    expect(code).toContain('email: string | null');
    expect(code).not.toMatch(/hushed/i);
    const requests = httpFiles(gateway.endpoints, { folder: 'requests' }, new Date(0));
    const lines = requests.flatMap(({ content }) => content.split('\n')).filter((line) => !/^\s*(?:#|\/\/)/.test(line));
    expect(lines.join('\n')).toContain('email=');
    expect(lines.filter((line) => /hushed/i.test(line))).toEqual([]);
  });

  test.each(['start', 'docs'] as const)('the data of the %s page', async (kind) => {
    const { gateway } = await start();
    const source = { kind, path: '/', connectionString: 'postgres://localhost/shop', links: [] };
    const { operations } = pageData(
      gateway.endpoints,
      parseConfiguration({ connectionString: 'postgres://localhost/shop' }),
      source,
    );
    const inputs = operations.map(({ path, parameters, body, client }) => [
      path,
      JSON.stringify([parameters, body, client]),
    ]);
    expect(inputs.filter(([, text]) => /email/.test(text!)).length).toBeGreaterThanOrEqual(paths.length);
    expect(inputs.filter(([, text]) => /hushed/i.test(text!))).toEqual([]);
  });

  test('tools of MCP, which refuse it', async () => {
    const client = await (await serveMcp(await start())).connect();
    const { tools } = await client.listTools();
    const inputs = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]);
    expect(Object.fromEntries(inputs)).toEqual({
      file: ['email'],
      level_of: ['email'],
      take: ['email', 'leftOver'],
      write: ['email'],
    });
    const call = async (name: string, values: Record<string, unknown>): Promise<unknown> => {
      const { structuredContent, content } = await client.callTool({ name, arguments: values });
      return structuredContent ?? content;
    };
    expect(await call('file', { email: 'a@x' })).toEqual({ row: { level: 3, email: 'a@x' } });
    expect(await call('level_of', { email: 'b@x' })).toEqual({ value: 5 });
    expect(await call('write', { email: 'b@x' })).toEqual({ values: [5] });
    for (const name of ['file', 'level_of', 'take', 'write'])
      expect(JSON.stringify(await call(name, { email: 'a@x', hushed: 9 }))).toMatch(/hushed/);
  });
});

test('pgway endpoints explains it', async () => {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const folder = await folderWith({
    'pgway.json': { connectionString: database.connectionString, sqlFiles: '*.sql' },
    ...files,
  });
  const streams = createTestProcess(folder);
  expect(await run(['endpoints', 'level_of'], {}, streams)).toBe(0);
  expect(streams.text.stdout).toContain(`param hushed = ${query}  sets "hushed" to the value of "${query}"\n`);
});

test('pgway test runs it, in the transaction of the test', async () => {
  const tests = `-- test the level
insert into account values ('t@x', 8, 'test');
-- GET /api/file?email=t@x
-- expect 200 body {"level": 8, "email": "t@x"}
-- GET /api/file?email=unknown
-- expect 200 body {"level": null, "email": "unknown"}
-- GET /api/file?email=a@x&hushed=9
-- expect 400
-- GET /api/level-of?email=t@x
-- expect 200 body 8
`;
  const { code, stdout } = await runPgwayTest({
    sql,
    files: { ...files, 'level.test.sql': tests },
    configuration: { sqlFiles: '*.sql' },
  });
  expect(stdout).toContain('ok     the level');
  expect(code).toBe(0);
});

const names = [
  'hushed',
  'Hushed',
  'HUSHED',
  '_hushed',
  ':hushed',
  '$1',
  '{hushed}',
  'hushed ',
  ' hushed',
  'hushed[]',
  'hushed.x',
  'hus\u0000hed',
  'huſhed',
  'hushеd',
];

describe('no request sets it', () => {
  test('by any name', async () => {
    const { send } = await start();
    for (const name of names) expect(await accepted(send, name)).toEqual([]);
  });

  /** Returns the requests that are not refused with 400. */
  async function accepted(send: TestGateway['send'], name: string): Promise<readonly string[]> {
    const key = encodeURIComponent(name);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const json = { 'content-type': 'application/json' };
    const keyed = { 'idempotency-key': '"k"', 'x-user': 'ada' };
    const body = { email: 'a@x', [name]: 9 };
    const reading = ['file', 'numbered', 'level-of', 'kept'].flatMap((path) => [
      [`GET /api/${path}?email=a@x&${key}=9`, {}] as const,
      [`GET /api/${path}?${key}=9&email=a@x`, {}] as const,
      [`QUERY /api/${path}`, { headers: form, body: `email=a@x&${key}=9` }] as const,
      [`QUERY /api/${path}`, { headers: json, body: JSON.stringify(body) }] as const,
    ]);
    const writing = ['write', 'take', 'keep'].map((path) => [`POST /api/${path}`, { body, headers: keyed }] as const);
    const answers = await Promise.all(
      [...reading, ...writing].map(async ([line, options]) => [line, (await send(line, options)).status] as const),
    );
    return answers.filter(([, status]) => status !== 400).map(([line, status]) => `${status} ${line}`);
  }

  test('in headers, the path, the fields of a form, a batch and a body that is a value', async () => {
    const { send, database } = await start();
    const headers = { hushed: '9', 'x-hushed': '9', cookie: 'hushed=9' };
    const answers = async (line: string, options: object = {}): Promise<string> => {
      const { status, body } = await send(line, options);
      return status === 200 ? body : String(status);
    };
    expect(await answers('GET /api/in-path/a@x', { headers })).toBe('3');
    expect(await answers('GET /api/in-path/a@x?hushed=9')).toBe('400');
    expect(await answers('GET /api/in-path/a@x&hushed=9')).not.toBe('9');
    expect(await answers('GET /api/level-of?email=a@x', { headers })).toBe('3');
    expect(await answers('POST /api/raw?email=a@x', { body: '{"hushed":9}' })).toBe('3');
    expect(await answers('POST /api/raw?email=a@x&hushed=9', { body: 'x' })).toBe('400');
    const upload = form(['a.txt', 'x']);
    expect(await answers('POST /api/receive?email=a@x', { body: upload })).toBe('3');
    expect(await answers('POST /api/receive?email=a@x&hushed=9', { body: upload })).toBe('400');
    const withField = form(['a.txt', 'x']);
    withField.append('hushed', '9');
    withField.append('email', 'a@x');
    expect(await answers('POST /api/receive?email=a@x', { body: withField })).not.toBe('9');
    const batch = await send('POST /api/batch', {
      body: [
        { method: 'GET', path: '/api/file?email=a@x&hushed=9' },
        { method: 'POST', path: '/api/write', body: { email: 'a@x', hushed: 9 } },
      ],
    });
    expect(batch.body).toMatch(/"status":400/);
    expect(await database.query('select * from taken')).toEqual([]);
  });

  test('unknown keys that are ignored', async () => {
    const { send } = await start({ unknownParameters: 'ignore' });
    for (const name of names) {
      const key = encodeURIComponent(name);
      for (const path of ['level-of', 'kept', 'numbered'])
        expect([path, name, (await send(`GET /api/${path}?email=a@x&${key}=9`)).body]).toEqual([path, name, '3']);
      const { body } = await send('POST /api/write', { body: { email: 'a@x', [name]: 9 } });
      expect([name, body]).toEqual([name, '[3]']);
    }
  });

  test('a response of the cache', async () => {
    const { send, database } = await start();
    const level = async (line: string): Promise<string> => (await send(line)).body;
    expect([await level('GET /api/kept?email=a@x'), await level('GET /api/kept?email=b@x')]).toEqual(['3', '5']);
    expect((await send('GET /api/kept?email=a@x&hushed=5')).status).toBe(400);
    await database.query(`update account set level = 4 where email = 'a@x'`);
    // The key has what the request gives, as for every cached response.
    expect(await level('GET /api/kept?email=a@x')).toBe('3');
  });

  test('a replay of an idempotency key', async () => {
    const { send, database } = await start();
    const headers = { 'idempotency-key': '"once"', 'x-user': 'ada' };
    const keep = async (body: object): Promise<unknown> => {
      const answer = await send('POST /api/keep', { headers, body });
      return [answer.status, answer.body.slice(0, 1), answer.headers.get('idempotent-replayed')];
    };
    expect(await keep({ email: 'a@x' })).toEqual([200, '3', null]);
    await database.query(`update account set level = 4 where email = 'a@x'`);
    // The first response, although the query has another value now.
    expect(await keep({ email: 'a@x' })).toEqual([200, '3', 'true']);
    expect(await keep({ email: 'a@x', hushed: 9 })).toEqual([400, '{', null]);
    expect(await keep({ email: 'b@x' })).toEqual([422, '{', null]);
    expect(await database.query('select * from taken')).toEqual([{ email: 'a@x', level: 3 }]);
  });

  test('functions of the dialect of PostgREST', async () => {
    const { send } = await start({ routineSources: [functionsSource(), postgrestSource()] } as never);
    expect((await send('GET /rest/rpc/level_of?email=a@x')).body).toBe('3');
    for (const line of ['GET /rest/rpc/level_of?email=a@x&hushed=9', 'GET /rest/rpc/level_of?email=a@x&hushed=eq.9'])
      expect((await send(line)).body).not.toBe('9');
    for (const body of [
      { email: 'a@x', hushed: 9 },
      { hushed: 9, email: 'a@x' },
    ])
      expect((await send('POST /rest/rpc/level_of', { body })).body).not.toBe('9');
  });
});
