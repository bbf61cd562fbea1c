import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

/** Runs `pgway validate` over a database with this SQL. */
async function validate(
  sql: string,
  configuration: object = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const database = await freshDatabase(sql);
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const streams = createTestProcess(await folderWith({ 'pgway.json': { connectionString, ...configuration } }));
  const code = await run(['validate'], environment, streams);
  // The tests connect as a superuser, which causes a warning.
  const stdout = streams.text.stdout
    .replace(/^warning: .*superuser.*\n/m, '')
    .replace(/(\d+) warnings?\n$/, (_, count: string) => `${Number(count) - 1} further warnings\n`);
  return { code, stdout, stderr: streams.text.stderr };
}

test('without problems: a summary, and exit code 0', async () => {
  const sql = `create function ready() returns int language sql as 'select 1'; comment on function ready is 'HTTP';`;

  expect(await validate(sql)).toEqual({ code: 0, stdout: '1 endpoint, 0 errors, 0 further warnings\n', stderr: '' });
});

test('a parameter whose type NpgsqlRest would fill from a service is an error', async () => {
  const { code, stdout } = await validate(`
    create type books as (body text);
    comment on type books is 'GET https://books.example/';
    create function answer(reply books) returns text language sql as 'select reply.body';
    comment on function answer is 'HTTP GET';
  `);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^error public\.answer\(reply public\.books\): the parameter "reply" is of type public\.books, whose comment is an HTTP request: .*\n0 endpoints, 1 error, 0 further warnings\n$/,
  );
});

const twoErrors = `
  create function guarded() returns int language sql as 'select 1';
  comment on function guarded is E'HTTP\\nauthorise_ admin\\nauthrize admin';
  create function one() returns int language sql as 'select 1';
  comment on function one is 'HTTP GET /same';
  create function two() returns int language sql as 'select 1';
  comment on function two is E'HTTP GET /same\\nbuffer_rows \u001b[31m';
`;

test.each([{}, { gateway: { strict: true }, log: { format: 'json', level: 'error' } }])(
  'every error and warning with routine and line, and exit code 1, with the configuration %j',
  async (configuration) => {
    const { code, stdout } = await validate(twoErrors, configuration, { PGWAY_PROT: '1' });

    expect(code).toBe(1);
    expect(stdout.split('\n').map((line) => line.slice(0, 76))).toEqual([
      'warning: PGWAY_PROT: unknown variable; did you mean PGWAY_PORT?',
      'error public.guarded(), line 2: "authorise_ admin" is read as prose; did you',
      'error public.guarded(), line 3: "authrize admin" is read as prose; did you m',
      'warning public.two(), line 2: buffer_rows takes a number of rows, not "\\u001',
      'error public.one(): GET "/same" is also the route of public.two() ("/same"),',
      'error public.two(): GET "/same" is also the route of public.one() ("/same"),',
      '0 endpoints, 4 errors, 2 further warnings',
      '',
    ]);
  },
);

test('numbered names of the served OpenAPI document are warnings', async () => {
  const sql = `
    create function one() returns int language sql as 'select 1';
    comment on function one is 'HTTP GET /api/a-b';
    create function two() returns int language sql as 'select 2';
    comment on function two is 'HTTP GET /api/a/b';
  `;
  const warning = /^warning public\.two\(\): GET \/api\/a\/b is called "aB2"/m;

  expect((await validate(sql)).stdout).not.toMatch(warning);
  const { code, stdout } = await validate(sql, { openApi: { path: '/openapi.json' } });
  expect(code).toBe(0);
  expect(stdout).toMatch(warning);
});

test('an optional service that does not work is a warning', async () => {
  const { code, stdout } = await validate('', {
    gateway: { connectionStrings: { other: 'postgres://u@127.0.0.1:1/d' } },
  });

  expect(code).toBe(0);
  expect(stdout).toMatch(/^warning: connection other: .*127\.0\.0\.1:1.*\n/);
});

test('an invalid configuration is reported at once, without a database', async () => {
  const streams = createTestProcess(await folderWith({ 'pgway.json': { prot: 1, gateway: { poolSize: 'many' } } }));

  expect(await run(['validate'], {}, streams)).toBe(2);
  expect(streams.text.stderr).toBe(
    'pgway: the configuration has 2 errors:\n  prot: unknown option; did you mean port? (in pgway.json:1)\n  gateway.poolSize: must be a whole number from 1 to 10000, or null, not "many" (in pgway.json:1)\n',
  );
});
