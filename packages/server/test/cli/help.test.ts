import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { settings } from '../../src/config/settings.ts';
import { folderWith } from '../support/folder.ts';
import { createTestProcess } from '../support/process-context.ts';

async function help(...words: readonly string[]): Promise<readonly [number, string, string]> {
  const streams = createTestProcess(await folderWith(), 80);
  return [await run(words, {}, streams), streams.text.stdout, streams.text.stderr];
}

/** Returns the paths of the settings below the list of commands and options. */
const settingsOf = (text: string): readonly string[] =>
  [...text.split('\nSettings:')[1]!.matchAll(/^  --([\w.]+)=</gm)].map(([, path]) => path!);

test('--help has the commands and the settings with which the reference begins', async () => {
  const [code, text] = await help('--help');
  const reference = readFileSync(join(import.meta.dirname, '../../../../docs/reference/configuration.md'), 'utf8');
  const table = /^## The 40 settings to begin with\n([^]*?)\n## /m.exec(reference)![1]!;
  const first = [...table.matchAll(/^\| `([\w.]+)` /gm)].map(([, path]) => path!);
  expect(first).toHaveLength(40);
  expect([code, settingsOf(text).toSorted()]).toEqual([0, first.toSorted()]);
  expect(text).toContain('  pgway validate [file]   check configuration');
  expect(text).toContain('pgway --help all prints every one');
  expect(text.split('\n').length).toBeLessThan(250);
});

test('--help all has every setting', async () => {
  const [code, text] = await help('--help', 'all');
  expect([code, new Set(settingsOf(text))]).toEqual([0, new Set(settings.map(({ path }) => path))]);
});

test('--help with a word has the settings whose name or description contains it', async () => {
  expect(await help('--help', 'antiforgery')).toMatchInlineSnapshot(`
    [
      0,
      "  authentication: Authentication: logins, and what routines receive about the caller.

      --authentication.antiforgeryPath=<text|null>
          The path where callers with cookies get a CSRF (antiforgery) token, such
          as \`/api/auth/antiforgery\`; null: none.

      staticFiles: Static files: pages, scripts and images beside the endpoints.

      --staticFiles.templates=<list>
          HTML files with placeholders such as \`{{user_name}}\`, \`{{claims.email}}\`
          and \`{{antiforgery}}\`, as in \`["*.html"]\`. Values are escaped for text and
          attributes. (default [])
    ",
      "",
    ]
  `);
  expect(await help('-h', 'gatway')).toEqual([
    1,
    '',
    'pgway: no setting contains "gatway"; pgway --help all prints every setting\n',
  ]);
});

test('--version is the version', async () => {
  expect((await help('-v'))[1]).toMatch(/^\d+\.\d+\.\d+\n$/);
});
