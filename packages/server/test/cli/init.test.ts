import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('writes pgway.json, and says what to do next', async () => {
  const folder = await folderWith();

  expect(await init(folder)).toEqual({
    code: 0,
    stdout: `\
pgway.json written. Next:
  1. Name your database in a .env file, which you keep out of version control:
     DATABASE_URL=postgres://user:password@localhost:5432/mydb
     Without a database, the embedded PostgreSQL starts with an example.
  2. Print the values that take effect: npx pgway config
  3. Check the database and its comments: npx pgway validate
  4. Start the server: npx pgway
`,
    stderr: '',
  });
  expect(await readFile(join(folder, 'pgway.json'), 'utf8')).toBe(configurationTemplate());
});

test('the written file sets nothing but $schema', async () => {
  const folder = await folderWith();
  await init(folder);
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
  const folder = await folderWith({ 'pgway.json': '{"port": 1}' });
  const content = (): Promise<string> => readFile(join(folder, 'pgway.json'), 'utf8');

  expect(await init(folder)).toEqual({
    code: 2,
    stdout: '',
    stderr: 'pgway: pgway.json: the file exists; pass --force to overwrite it, or another name\n',
  });
  expect(await content()).toBe('{"port": 1}');
  expect((await init(folder, '--force')).code).toBe(0);
  expect(await content()).toBe(configurationTemplate());
});

test.skipIf(process.platform === 'win32')('does not write through a link without --force', async () => {
  const folder = await folderWith();
  await writeFile(join(folder, 'other'), '');
  await symlink('other', join(folder, 'pgway.json'));

  expect((await init(folder)).code).toBe(2);
  expect(await readFile(join(folder, 'other'), 'utf8')).toBe('');
});

test('another name; a folder that does not exist; two files; settings', async () => {
  const folder = await folderWith();

  const { code, stdout } = await init(folder, 'staging.json');
  expect(code).toBe(0);
  expect(stdout).toContain('  4. Start the server: npx pgway staging.json\n');
  expect((await init(folder, 'none/pgway.json')).stderr).toBe(
    'pgway: none/pgway.json: the folder of the file does not exist; create it\n',
  );
  expect((await init(folder, 'a.json', 'b.json', '--port=1', '--json')).stderr).toBe(`\
pgway: the configuration has 3 errors:
  --json: only valid as in pgway config --json or pgway endpoints --json
  --port: pgway init takes no settings; edit the file that it writes
  init: writes one file, not 2; pass only one
`);
});
