import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGateway, sqlFilesSource } from '@pgway/core';
import { freshDatabase } from '@pgway/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { people } from '../events/people.ts';
import { startProxy } from '../database/support.ts';
import { createFolder, startWithFiles, useFiles } from './folder.ts';

/** SQL files in later versions and changelogs of NpgsqlRest. The last tests compare the lines of the page with the names of the tests. */

type Behaviour = readonly [name: string, file: string, text: string, request: string, answer: string, options?: object];

const behaviours: readonly Behaviour[] = [
  [
    'type is, without a name',
    'type_is.sql',
    '-- HTTP\n-- @param $1 n\n-- @param n type is integer\nselect $1',
    'GET /api/type-is?n=7',
    '200 [7]',
  ],
  [
    ':name is one parameter of all statements',
    'shared.sql',
    '-- HTTP POST\nselect :n::int;\nselect :n::int + 1',
    'POST /api/shared',
    '200 {"result1":[1],"result2":[2]}',
    { body: { n: 1 } },
  ],
  [
    '@param :name',
    'colon.sql',
    '-- HTTP\n-- @param :n integer\n-- @param :n default 5\nselect :n',
    'GET /api/colon',
    '200 [5]',
  ],
  ['*.test.sql files are not endpoints', 'some.test.sql', '-- HTTP GET\nselect 1', 'GET /api/some.test', '404 '],
  ['files without a statement are not endpoints', 'empty.sql', '-- HTTP GET', 'GET /api/empty', '404 '],
  [
    'a parameter of claims',
    'claims.sql',
    '-- HTTP\n-- @user_parameters\nselect :_user_name as name',
    'GET /api/claims',
    '200 ["ada"]',
    { headers: { 'x-user': 'ada' } },
  ],
  [
    'a virtual parameter of claims',
    'virtual.sql',
    '-- HTTP\n-- @user_parameters\n-- @define_param _user_name\n-- X-Name: {_user_name}\nselect 1',
    'GET /api/virtual',
    '200 [1] ada',
    { headers: { 'x-user': 'ada' } },
  ],
  [
    'a header with the value of a parameter',
    'header.sql',
    '-- HTTP\n-- @define_param label\n-- X-Name: {label}\nselect 1',
    'GET /api/header?label=b',
    '200 [1] b',
  ],
  [
    'a parameter that a query sets',
    'resolved.sql',
    '-- HTTP\n-- twice = select :n::int * 2\nselect :twice::int',
    'GET /api/resolved?n=4',
    '200 [8]',
  ],
  [
    'a hash of another parameter',
    'hash.sql',
    '-- HTTP POST\n-- @param digest is hash of password\n-- single\nselect :digest::text <> :password::text',
    'POST /api/hash',
    '200 true',
    { body: { password: 'x' } },
  ],
  [
    'user_context',
    'context.sql',
    `-- HTTP\n-- @user_context\nselect current_setting('request.user_name', true)`,
    'GET /api/context',
    '200 ["ada"]',
    { headers: { 'x-user': 'ada' } },
  ],
  [
    'roles',
    'roles.sql',
    '-- HTTP\n-- @authorize unused_role\nselect 1',
    'GET /api/roles',
    '403 ',
    { headers: { 'x-user': 'ada' } },
  ],
  ['disabled', 'disabled.sql', '-- HTTP\n-- @disabled\nselect 1', 'GET /api/disabled', '404 '],
  ['parameters of DELETE', 'remove.sql', '-- HTTP\ndelete from item where id = :id', 'DELETE /api/remove?id=4', '204 '],
  [
    'rows of a procedure',
    'call.sql',
    '-- HTTP POST\ncall answer(:n, null)',
    'POST /api/call',
    '200 [43]',
    { body: { n: 1 } },
  ],
  [
    'an array as a parameter',
    'array.sql',
    '-- HTTP\nselect :ids::int[] as ids',
    'GET /api/array?ids=1&ids=2',
    '200 [[1,2]]',
  ],
  ['NULL of one column', 'null.sql', '-- HTTP\nselect null::int as n', 'GET /api/null', '200 [null]'],
  [
    'columns are converted as names are',
    'camel.sql',
    '-- HTTP\nselect 1 as first_one, 2 as second_one',
    'GET /api/camel',
    '200 [{"firstOne":1,"secondOne":2}]',
  ],
];

const files = useFiles(
  `create table item (id int primary key, name text not null);
   create procedure answer(n int, inout m int) language sql as 'select n + 42';`,
  Object.fromEntries(behaviours.map(([, file, text]) => [file, text])),
  { gateway: { authentication: { schemes: [people().scheme] } } },
);

test.each(behaviours.map((behaviour) => [behaviour[0], behaviour] as const))('%s', async (_, behaviour) => {
  const [, , , request, answer, options = {}] = behaviour;
  const { status, body, headers } = await files.current().send(request, options);
  const header = headers.get('x-name');
  const shown = status >= 400 ? '' : `${body}${header === null ? '' : ` ${header}`}`;
  expect(`${status} ${shown}`).toBe(answer);
});

test('a DO statement has no parameters', async () => {
  const started = await startWithFiles('', { 'do.sql': '-- HTTP POST\ndo $$ begin perform $1; end $$' });
  onTestFinished(() => started.close());
  expect((await started.send('POST /api/do')).status).toBeGreaterThanOrEqual(400);
});

test('errors with line, column and caret', async () => {
  const started = await startWithFiles('create table item (id int, name text)', {
    'bad.sql': '-- HTTP\nselect id,\n  titel\nfrom item',
  });
  onTestFinished(() => started.close());
  expect(started.gateway.diagnostics).toMatchObject([
    {
      severity: 'error',
      routine: 'bad.sql',
      line: 3,
      message: 'column 3: column "titel" does not exist\n    titel\n    ^',
    },
  ]);
});

test('a warning if no file matches', async () => {
  const started = await startWithFiles('create table item (id int, name text)', { 'read.me': 'select 1' });
  onTestFinished(() => started.close());
  expect(started.gateway.diagnostics).toMatchObject([
    {
      severity: 'warning',
      routine: '**/*.sql',
      message: 'no SQL file matches; correct the pattern, or create the file',
    },
  ]);
});

test('all statements in one round trip, all or nothing', async () => {
  const database = await freshDatabase('create table item (id int primary key, name text not null)');
  onTestFinished(() => database.drop());
  const folder = await createFolder({
    'both.sql': '-- HTTP POST\ninsert into item values (:id, :name);\nselect 6 / (:id - 70) as quotient',
  });
  const proxy = await startProxy(database.connectionString);
  onTestFinished(() => proxy.off());
  const gateway = await createGateway({
    connectionString: proxy.connectionString,
    routineSources: [sqlFilesSource({ files: '*.sql', folder })],
    poolSize: 1,
  });
  onTestFinished(() => gateway.close());
  const send = async (id: number): Promise<string> => {
    const body = JSON.stringify({ id, name: 'both' });
    const headers = { 'content-type': 'application/json' };
    const answer = await gateway.fetch(new Request('http://localhost/api/both', { method: 'POST', headers, body }));
    return `${answer!.status} ${answer!.status === 200 ? await answer!.text() : ''}`;
  };
  const written = async (): Promise<unknown> =>
    (await database.query(`select array_agg(id order by id)::text as ids from item where name = 'both'`))[0]!['ids'];
  expect([await send(70), await written()]).toEqual(['400 ', null]);
  // The first ones prepare the statements.
  for (const id of [71, 72, 73]) expect(await send(id)).toMatch('200 ');
  expect(await written()).toBe('{71,72,73}');
  proxy.swallow();
  const answer = send(76);
  // Without any response of the server, everything was sent, the commit included.
  await expect.poll(written).toBe('{71,72,73,76}');
  proxy.release();
  expect(await answer).toBe('200 {"result1":1,"result2":[1]}');
});

/** The folders with tests of lines. */
const folders = ['.', '../../../server/test/sql-files'];

describe('the page', () => {
  const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
  const [, about] = read('../../../../docs/reference/npgsqlrest.md').split('\n## SQL files\n');
  const lines = Array.from(
    about!.matchAll(/^\| (.+?) \| (.+) \|$/gm),
    ([, name, ours]) => [name!, ours!] as const,
  ).slice(1);

  test('has a test for each line that is not missing', () => {
    const sources = folders.flatMap((folder) =>
      readdirSync(join(import.meta.dirname, folder))
        .filter((name) => name.endsWith('.ts'))
        .map((name) => read(`${folder}/${name}`)),
    );
    const isTested = (name: string): boolean =>
      [`'${name}'`, `"${name}"`].some((quoted) => sources.some((source) => source.includes(quoted)));
    expect(
      lines.filter(([name, ours]) => !ours.startsWith('missing') && !isTested(name)).map(([name]) => name),
    ).toEqual([]);
  });

  test('counts its lines', () => {
    const same = lines.filter(([, ours]) => ours === 'the same').length;
    const missing = lines.filter(([, ours]) => ours.startsWith('missing')).length;
    expect(about!.replaceAll('\n', ' ')).toContain(
      `Of ${lines.length} lines, ${same} are the same, ${lines.length - same - missing} differ, and ${missing} are missing.`,
    );
  });
});
