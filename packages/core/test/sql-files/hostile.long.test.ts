import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlFilesSource } from '@pgway/core';
import { startGateway } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder, startWithFiles } from './folder.ts';

/** Files that would keep a start busy, or lead out of the folder. Each has almost a megabyte, which is the limit of a file. */

const size = 1_000_000;
const fill = (text: string): string => text.repeat(Math.floor(size / text.length));
const list = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join('');

/** `published`, `skipped`, or the beginning of the first fault. */
const bombs: Readonly<Record<string, readonly [text: string, outcome: string]>> = {
  'blank lines': [`-- HTTP GET\n${fill('\n')}select 1`, 'published'],
  'blank lines without HTTP': [`-- note\n${fill('\n')}select 1`, 'skipped'],
  'spaces in a comment': [
    `-- HTTP GET\n-- param a${' '.repeat(size)}b\nselect :a::int`,
    `2: column ${size + 11}: type "b" does not exist: param a b sets a type; correct it`,
  ],
  'parameters that no statement uses': [
    `-- HTTP GET\n${Array.from({ length: size / 40 }, (_, index) => `-- define_param p${index} int\n`).join('')}select 1`,
    '25002: column 1: the file has 25000 parameters; at most 1000: pass an array or JSON',
  ],
  'spaces before a default': [`-- HTTP GET\n-- param a int${' '.repeat(size)}default 1\nselect :a`, 'published'],
  'nested comments': [`-- HTTP GET\n${'/*'.repeat(size / 4)}${'*/'.repeat(size / 4)}\nselect 1`, 'published'],
  'a comment without an end': [
    `-- HTTP GET\nselect 1 ${fill('/*')}`,
    '2: column 10: the comment that begins here has no closing */',
  ],
  'block comments in one line': [`-- HTTP GET\n${fill('/*a*/')}\nselect 1`, 'published'],
  'a long word': [`-- HTTP GET\n-- ${'a'.repeat(size)}\nselect 1`, 'published'],
  'a long literal': [`-- HTTP GET\nselect length('${"a''".repeat(size / 4)}')`, 'published'],
  quotes: [`-- HTTP GET\nselect '${fill("''")}`, '2: column 1000008: a string literal'],
  escapes: [`-- HTTP GET\nselect E'${fill('\\\\')}`, '2: column 9: a string literal'],
  backslashes: [`-- HTTP GET\n${fill('\\i\n')}select 1`, '2: column 1: "\\" begins a command of psql'],
  'dollar quotes': [
    `-- HTTP GET\nselect ${list(90_000, (index) => `$a${index}$ `)}`,
    '2: column 8: the literal that $a0$ begins here',
  ],
  parentheses: [`-- HTTP GET\nselect ${fill('(')}`, '2: column '],
  statements: [
    `-- HTTP GET\n${fill('select 1;')}`,
    '2: column 1: the file has 111111 statements; at most 1000: write a function or several files',
  ],
  'refused statements': [`-- HTTP GET\n${'listen a;'.repeat(900)}`, '2: column 1: listen belongs to a session'],
  parameters: [
    `-- HTTP GET\nselect ${list(80_000, (index) => `:a${index},`)}1`,
    '2: column 1: the file has 80000 parameters; at most 1000: pass an array or JSON',
  ],
  queries: [
    `-- HTTP GET\n${fill('-- param a = select (\n')}select :a::int`,
    '2: column 22: param a: a parenthesis is not closed',
  ],
  'many queries': [
    `-- HTTP GET\n${fill('-- param a = select 1\n')}select :a::int`,
    '3: param a: another line has a query for it; keep one',
  ],
  'a long query': [
    `-- HTTP GET\n-- param a = select ${fill('$x$/*')}\nselect :a::int`,
    '2: column 14: param a: the query has 1000007 characters; at most 10000: call a function',
  ],
  'names of objects': [
    `-- HTTP GET\n-- param constructor int\n-- define_param __proto__ text\n-- result __proto__
select :constructor as "__proto__";\n-- result toString\nselect :constructor;`,
    'published',
  ],
  'a word of objects': ['-- HTTP\nconstructor 1', '2: column 1: syntax error at or near "constructor"'],
};

test('a file of any content is read, and the others work', async () => {
  const entries = Object.entries(bombs);
  const files = await startWithFiles(
    '',
    Object.fromEntries([
      ...entries.map(([, [text]], index) => [`f${index}.sql`, text]),
      ['good.sql', '-- HTTP\nselect 1'],
    ]),
  );
  onTestFinished(() => files.close());
  const { endpoints, diagnostics } = files.gateway;
  for (const [index, [name, [, outcome]]] of entries.entries()) {
    const id = `f${index}.sql`;
    const fault = diagnostics.find(({ routine, severity }) => routine === id && severity === 'error');
    const published = endpoints.some((endpoint) => endpoint.id === id) ? 'published' : 'skipped';
    const actual = fault === undefined ? published : `${fault.line}: ${fault.message}`.slice(0, outcome.length);
    expect([name, actual]).toEqual([name, outcome]);
  }
  expect((await files.send('GET /api/good')).body).toBe('[1]');
  const answer = await files.send(`GET /api/f${Object.keys(bombs).indexOf('names of objects')}?constructor=5&proto=x`);
  expect([answer.status, answer.body]).toEqual([200, '{"proto":[5],"toString":[5]}']);
});

test('names with control characters, folders, links and too many bytes', async () => {
  const folder = await createFolder({ 'good.sql': '-- HTTP\nselect 1' });
  const outside = await createFolder({ 'secret.sql': '-- HTTP\nselect 2' });
  await mkdir(join(folder, 'folder.sql'));
  await mkdir(join(folder, 'down'));
  await symlink(outside, join(folder, 'down', 'linked'));
  await symlink(join(outside, 'secret.sql'), join(folder, 'down', 'a.sql'));
  await symlink('..', join(folder, 'down', 'loop'));
  await writeFile(join(folder, 'a\u001B[31m\nb.sql'), '-- HTTP\nselect 3');
  await writeFile(join(folder, 'a%2f..%2fb.sql'), '-- HTTP\nselect 3');
  await writeFile(join(folder, 'large.sql'), `-- HTTP\nselect 1 -- ${'x'.repeat(1024 * 1024)}`);
  await writeFile(join(folder, 'nul.sql'), '-- HTTP\nselect 1 -- \0');
  const started = await startGateway('', {
    routineSources: [sqlFilesSource({ files: '**/*.sql', folder })],
  });
  onTestFinished(() => started.close());
  const { gateway } = started;
  expect(gateway.endpoints.map(({ id }) => id)).toEqual(['good.sql']);
  expect(gateway.diagnostics.map(({ routine, message }) => [routine, message.slice(0, 36)])).toEqual([
    ['down/linked', 'is a link to a folder that is outsid'],
    ['down/loop', 'is a link to a folder that contains '],
    ['a\u001B[31m\nb.sql', 'the name of the file has characters '],
    ['a%2f..%2fb.sql', 'the name of the file has characters '],
    ['down/a.sql', `is outside of ${await realpath(folder)}`.slice(0, 36)],
    ['large.sql', 'has 1048596 bytes; a file may have 1'],
    ['nul.sql', 'contains a NUL character; remove it'],
  ]);
});
