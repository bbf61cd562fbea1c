import { chmod, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parseEnv } from 'node:util';
import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { parseJsonText } from '../../src/config/json-text.ts';
import { configurationTemplate } from '../../src/config/template.ts';
import { loadFrom } from '../support/configuration.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

async function init(
  folder: string,
  ...words: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const streams = createTestProcess(folder);
  return { code: await run(['init', ...words], {}, streams), ...streams.text };
}

test('writes a project with a query, and says what to do next', async () => {
  const folder = await folderWith();

  expect(await init(folder)).toEqual({
    code: 0,
    stdout: `\
pgway.json  written
api/hello.sql  written
public/index.html  written
src/main.ts  written
tsconfig.json  written
package.json  written
.gitignore  written
Next:
  npm install
  npm run build
  npm start
and open http://127.0.0.1:8080/, and /console for all endpoints.
`,
    stderr: '',
  });
  expect(await readFile(join(folder, 'pgway.json'), 'utf8')).toBe(`\
// All settings: npx pgway --help. The values that take effect: npx pgway config
{
  "$schema": "./node_modules/pgway/pgway.schema.json",
  // Without DATABASE_URL, the database is a PostgreSQL from npm, with its data in .pgway.
  "embedded": { "example": false },
  // Each SQL file is an endpoint if its first comment has a line HTTP. A saved file is live with --watch.
  "sqlFiles": "api/**/*.sql",
  // The pages of the application; the page that lists and calls all endpoints is at /console.
  "staticFiles": { "root": "public" },
  "startPage": { "path": "/console" },
  // pgway generate writes this typed client.
  "typescriptClient": { "filePath": "src/api.ts", "fileOverwrite": true, "createSeparateTypeFile": false }
}
`);
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('node_modules/\n.env\n.pgway/\n');
});

test('keeps what package.json, .env and .gitignore have', async () => {
  const folder = await folderWith({
    'package.json': '{\n\t"name": "shop",\n\t"scripts": { "start": "node ." }\n}\n',
    '.env': 'DATABASE_URL=postgres://ada@db/shop',
    '.gitignore': 'dist/\n.env\n',
  });
  const { code, stdout } = await init(folder);
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');

  expect(code).toBe(0);
  expect(stdout).not.toContain('.env  written');
  expect(JSON.parse(await read('package.json'))).toEqual({
    name: 'shop',
    scripts: { start: 'node .', build: 'pgway generate && tsc' },
    dependencies: { pgway: expect.stringMatching(/^\^\d/) },
    devDependencies: { typescript: '^7.0.2' },
  });
  expect(stdout).toContain('  npm run build\n  npx pgway --watch\n');
  expect(await read('package.json')).toMatch(/^\{\n\t"name"/);
  expect(await read('.gitignore')).toBe('dist/\n.env\nnode_modules/\n.pgway/\n');
});

test('a connection string becomes a variable of .env that others cannot read', async () => {
  const folder = await folderWith();
  expect((await init(folder, '--database=postgres://ada:a#b@db/shop')).code).toBe(0);
  expect(await readFile(join(folder, '.env'), 'utf8')).toBe("DATABASE_URL='postgres://ada:a#b@db/shop'\n");
  await chmod(join(folder, '.env'), 0o644);
  expect((await init(folder, '--force', '--sign-in=jwt')).stderr).not.toBe('');
  const isPosix = process.platform !== 'win32';
  const { mode } = await stat(join(folder, '.env'));
  expect(isPosix ? mode & 0o777 : 0o600).toBe(0o600);
  expect((await loadFrom(folder)).configuration.connectionString).toBe('postgres://ada:a#b@db/shop');
});

test('asks on a terminal, and again after a wrong answer', async () => {
  const folder = await folderWith();
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const streams = createTestProcess(folder, 80, terminal);
  const code = run(['init', '--sign-in=none'], {}, streams);
  await expect.poll(() => streams.text.stderr).toMatch(/\(empty: a PostgreSQL from npm\): $/);
  terminal.write('\n');
  await expect.poll(() => streams.text.stderr).toMatch(/What do you publish\?[^]*3 {2}tables\n\[1\] $/);
  terminal.write('views\n');
  await expect
    .poll(() => streams.text.stderr)
    .toContain('"views" is not one of the choices; enter a number from 1 to 3: ');
  terminal.write('1\n');

  expect(await code).toBe(0);
  expect(streams.text.stdout).toContain('api/hello.sql  written');
});

test('cancelled questions write nothing', async () => {
  const folder = await folderWith();
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const streams = createTestProcess(folder, 80, terminal);
  const code = run(['init'], {}, streams);
  await expect.poll(() => streams.text.stderr).toContain('Connection string');
  terminal.end();

  expect(await code).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});

test('with --all, only a configuration that sets nothing but $schema', async () => {
  const folder = await folderWith();
  expect(await init(folder, '--all')).toEqual({
    code: 0,
    stdout: 'pgway.json written. Print the values that take effect: npx pgway config\n',
    stderr: '',
  });
  expect(await readdir(folder)).toEqual(['pgway.json']);
  const { configuration, origins, files } = await loadFrom(folder);

  expect(files).toEqual(['pgway.json']);
  expect([...origins]).toEqual([]);
  expect(configuration).toEqual({
    ...(await loadFrom(await folderWith())).configuration,
    $schema: './node_modules/pgway/pgway.schema.json',
  });
});

test('each line without its slashes is valid, and sets the default', async () => {
  const uncommented = configurationTemplate().replaceAll(/^( +)\/\/ (?="\w+": )/gm, '$1');
  const shown = uncommented.match(/^ +"\w+": (?!\{$)/gm)!.length;
  const folder = await folderWith({ 'pgway.json': uncommented });
  const { configuration, origins } = await loadFrom(folder);

  expect(origins.size).toBe(shown);
  expect(shown).toBeGreaterThan(35);
  expect(configuration).toEqual({
    ...(await loadFrom(await folderWith())).configuration,
    $schema: './node_modules/pgway/pgway.schema.json',
  });
});

test('the beginning of the file', () => {
  expect(configurationTemplate().split('\n').slice(0, 20).join('\n')).toMatchInlineSnapshot(`
    "// The configuration of pgway. Each line with a key shows a default: remove its slashes to change it.
    // Values may contain variables: "\${NAME}", or "\${NAME:default}". Keep secrets in variables or in a .env file.
    // All settings: npx pgway --help all. The values that take effect: npx pgway config --all
    {
      "$schema": "./node_modules/pgway/pgway.schema.json",

      // The database: postgres://user:password@host:5432/name, or
      // Host=…;Port=…;Database=…;Username=…;Password=…. Null: the embedded PostgreSQL.
      // "connectionString": null,

      // The address to listen on; 0.0.0.0 or :: for every address of the machine.
      // "host": "127.0.0.1",

      // The port to listen on; 0: any free port.
      // "port": 8080,

      // Host names that requests may use in Host. On a loopback host, loopback names are always
      // accepted and every other name must be listed; elsewhere an empty list accepts every name.
      // "allowedHosts": [],
    "
  `);
  expect(
    Math.max(
      ...configurationTemplate()
        .split('\n')
        .map((line) => line.length),
    ),
  ).toBeLessThanOrEqual(120);
  expect(Object.keys(parseJsonText(configurationTemplate()).value as object)).toContain('gateway');
});

test('does not overwrite a file, unless --force is passed', async () => {
  const folder = await folderWith({ 'pgway.json': '{"port": 1}', 'src/main.ts': '' });
  const content = (): Promise<string> => readFile(join(folder, 'pgway.json'), 'utf8');

  expect(await init(folder)).toEqual({
    code: 2,
    stdout: '',
    stderr: `\
pgway: the configuration has 2 errors:
  pgway.json: the file exists; pass --force to overwrite it, or choose another folder
  src/main.ts: the file exists; pass --force to overwrite it, or choose another folder
`,
  });
  expect(await readdir(folder)).toEqual(['pgway.json', 'src']);
  expect(await content()).toBe('{"port": 1}');
  expect((await init(folder, '--force')).code).toBe(0);
  expect(await content()).toContain('"sqlFiles"');
});

test.skipIf(process.platform === 'win32')('does not write through a link without --force', async () => {
  const folder = await folderWith();
  await symlink('other', join(folder, 'pgway.json'));

  expect((await init(folder)).code).toBe(2);
  expect(await readdir(folder)).toEqual(['pgway.json']);
});

test('another name, and a folder that does not exist', async () => {
  const folder = await folderWith();
  expect((await init(folder, 'staging.json')).stdout).toContain('  npx pgway staging.json --watch\n');
  expect((await init(folder, '--all', '--force', 'conf/staging.json')).code).toBe(0);
  expect(await readFile(join(folder, 'conf/staging.json'), 'utf8')).toBe(configurationTemplate());
});

test.each([
  [
    ['a.json', 'b.json', '--port=1', '--json'],
    `the configuration has 3 errors:
  --json: only valid as in pgway config --json or pgway endpoints --json
  --port: pgway init takes --database, --publish, --sign-in and no settings; edit the file that it writes
  init: writes one file, not 2; pass only one`,
  ],
  [['--publish=views'], '--publish: must be files, functions, tables'],
  [['--sign-in'], '--sign-in: must be none, cookie, jwt'],
  [['--database='], '--database: needs a connection string, or embedded'],
  [
    ['--all', '--publish=tables'],
    '--all and --publish: pass only one of them; --all writes the configuration file only',
  ],
  [
    ['--database=postgres://db/other'],
    '--database: .env sets DATABASE_URL to another database; change it there, or leave --database out',
  ],
])('refuses %j', async (words, message) => {
  const folder = await folderWith({ '.env': 'DATABASE_URL=postgres://db/shop\n' });
  expect(await init(folder, ...words)).toEqual({ code: 2, stdout: '', stderr: `pgway: ${message}\n` });
  expect(await readdir(folder)).toEqual(['.env']);
});

test.each(["Host=db;Password=it's#1", 'Host=db;Password=a"b#'])('%s is quoted in .env', async (database) => {
  const folder = await folderWith();
  expect((await init(folder, `--database=${database}`)).code).toBe(0);
  expect(parseEnv(await readFile(join(folder, '.env'), 'utf8'))).toEqual({ DATABASE_URL: database });
});

test('the database of the environment is not another one than that of the switch', async () => {
  const folder = await folderWith();
  const streams = createTestProcess(folder);
  const words = ['init', '--database=embedded', '--publish=tables'];
  expect(await run(words, { DATABASE_URL: 'postgres://db/production' }, streams)).toBe(2);
  expect(streams.text.stderr).toBe(
    'pgway: --database: the environment sets DATABASE_URL to another database; change it there, or leave --database out\n',
  );
  expect(await readdir(folder)).toEqual([]);
});

test('db/api.sql says how a change of it gets into the database, and can run again', async () => {
  const database = await freshDatabase('');
  onTestFinished(() => database.drop());
  const folder = await folderWith();
  await init(folder, `--database=${database.connectionString}`, '--publish=tables', '--sign-in=jwt');
  const text = await readFile(join(folder, 'db/api.sql'), 'utf8');
  expect(text.split('\n\n', 1)).toEqual([
    '-- After a change, run this file in the database of the project: psql -f db/api.sql\n-- A server with --watch serves the change at once.',
  ]);
  await database.query(text.replace('Notes.', 'All notes.'));
  expect(
    await database.query(`select obj_description('note'::regclass) as comment, count(*)::int as notes from note`),
  ).toEqual([{ comment: 'All notes.\nHTTP', notes: 1 }]);
});

test('what the database has already stays as it is', async () => {
  const database = await freshDatabase(
    `create table note (body text); create function login() returns int language sql as 'select 1'`,
  );
  onTestFinished(() => database.drop());
  const { pathname } = new URL(database.connectionString);
  const { code, stdout } = await init(
    await folderWith(),
    `--database=${database.connectionString}`,
    '--publish=tables',
    '--sign-in=cookie',
  );
  expect(code).toBe(0);
  expect(stdout).toContain(
    `db/api.sql  not applied: the database ${pathname.slice(1)} has login, note; compare the file with it, and run what is missing\n`,
  );
  const [found] = await database.query(
    `select obj_description('note'::regclass) as comment, to_regclass('person') as person`,
  );
  expect(found).toEqual({ comment: null, person: null });
});

test('a package.json that is not an object', async () => {
  const folder = await folderWith({ 'package.json': '[]' });
  expect((await init(folder)).stderr).toBe('pgway: package.json: is not a JSON object; correct it\n');
});
