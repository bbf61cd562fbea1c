import { freshDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

/** Runs a command in a folder with these files. */
async function runWith(
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  configuration: object = { sqlFiles: 'api/**/*.sql' },
): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const database = await freshDatabase('create table film (film_id int primary key, title text not null);');
  onTestFinished(() => database.drop());
  const { connectionString } = database;
  const folder = await folderWith({ 'pgway.json': { connectionString, ...configuration }, ...files });
  const streams = createTestProcess(folder);
  const code = await run(args, {}, streams);
  const lines = (streams.text.stdout + streams.text.stderr).split('\n').filter((line) => !/superuser/.test(line));
  return { code, lines };
}

test('pgway validate shows the place of a mistake', async () => {
  const { code, lines } = await runWith(['validate'], {
    'api/good.sql': '-- HTTP\nselect title from film',
    'api/bad.sql': '-- HTTP GET /bad\nselect film_id,\n  titel\nfrom film',
    'migrations/0001.sql': 'create table film (film_id int);',
  });
  expect(code).toBe(1);
  expect(lines).toEqual([
    'error api/bad.sql, line 3: column 3: column "titel" does not exist (Perhaps you meant to reference the column "film.title".)',
    '    titel',
    '    ^',
    '1 endpoint, 1 error, 1 warning',
    '',
  ]);
});

test('pgway endpoints explains a file with the lines of its comments', async () => {
  const { code, lines } = await runWith(['endpoints', 'films'], {
    'api/films.sql':
      '-- Lists films.\n-- HTTP GET /films\n-- param limit default 20\n-- authorize editor\nselect title from film limit :limit',
  });
  expect(code).toBe(0);
  expect(lines.join('\n')).toMatch(/api\/films\.sql/);
  expect(lines.join('\n')).toMatch(/line 4\s+authorize editor/);
});

test('the folders of a pattern are part of the path by an option', async () => {
  const { lines } = await runWith(
    ['endpoints'],
    { 'api/admin/users.sql': '-- HTTP\nselect 1', 'api/films.sql': '-- HTTP\nselect 1' },
    { sqlFiles: ['api/**/*.sql'], sqlFilesFolders: true },
  );
  expect(lines.join('\n')).toMatch(/GET +\/api\/admin\/users/);
  expect(lines.join('\n')).toMatch(/GET +\/api\/films/);
});
