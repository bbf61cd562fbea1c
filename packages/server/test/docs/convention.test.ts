import { describe, expect, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { isShown } from './answer.ts';
import { shellWords } from './curl.ts';
import { readPage } from './page.ts';

/* The conventions that authors of pages can rely on. */

async function page(...lines: readonly string[]): Promise<ReturnType<typeof readPage>> {
  return readPage(await folderWith({ 'page.md': lines.join('\n') }), 'page.md');
}

describe('a page', () => {
  test('the steps of a page, each with its line', async () => {
    const { steps, links, anchors } = await page(
      '# Title, with [a link](other.md#part) and [another](https://example.org)',
      '<!-- sql',
      'hidden',
      '-->',
      '```sql',
      'shown',
      '```',
      '```json',
      '{}',
      '```',
      '<!-- js',
      'import a',
      '-->',
      '```js',
      'a()',
      '```',
      '<!-- file b.csv -->',
      '```text',
      'a,b',
      '1,2',
      '```',
      '<!-- file c.png from examples/c.png -->',
      '```js',
      '// b.mjs',
      '```',
      '```',
      'not tried',
      '```',
    );
    expect(steps).toEqual([
      { kind: 'heading', line: 1 },
      { kind: 'sql', line: 3, text: 'hidden' },
      { kind: 'sql', line: 6, text: 'shown' },
      { kind: 'config', line: 9, text: '{}' },
      { kind: 'fragment', line: 15, prelude: 'import a', text: 'a()' },
      { kind: 'file', line: 19, name: 'b.csv', content: { text: 'a,b\n1,2\n' } },
      { kind: 'file', line: 22, name: 'c.png', content: { path: 'examples/c.png' } },
      { kind: 'program', line: 24, name: 'b.mjs', text: '// b.mjs' },
    ]);
    expect(links).toEqual([{ line: 1, target: 'other.md', anchor: 'part' }]);
    expect([...anchors]).toContain('title-with-a-link-and-another');
  });

  test('a configuration and a script of the checkout', async () => {
    const folder = await folderWith({
      'page.md': '\n<!-- config from shop.json -->\n<!-- sql from shop.sql -->',
      'shop.json': '{}',
      'shop.sql': 'select 1;',
    });
    expect(readPage(folder, 'page.md').steps).toEqual([
      { kind: 'config', line: 2, text: '{}' },
      { kind: 'sql', line: 3, text: 'select 1;' },
    ]);
  });

  test('a part of a file of the checkout', async () => {
    const read = async (part: string): Promise<unknown> => {
      const page = `<!-- part of shop.sql -->\n\`\`\`sql\n${part}\n\`\`\``;
      return readPage(await folderWith({ 'page.md': page, 'shop.sql': 'select 1;\nselect 2;\n' }), 'page.md').steps;
    };
    expect(await read('select 2;')).toEqual([]);
    await expect(read('select 3;')).rejects.toThrow('page.md:3: shop.sql does not have these lines');
  });

  test('commands, with the text below each of them', async () => {
    const { steps } = await page(
      '```',
      '$ curl a',
      'one',
      '',
      'two',
      "$ curl --json '",
      "{}' b",
      '$ curl \\',
      ' c',
      '```',
    );
    expect(steps).toEqual([
      { kind: 'command', line: 2, command: 'curl a', answer: 'one\n\ntwo' },
      { kind: 'command', line: 6, command: "curl --json '\n{}' b", answer: '' },
      { kind: 'command', line: 8, command: 'curl \\\n c', answer: '' },
    ]);
  });

  test('an unsupported step is an error with its line', async () => {
    await expect(page('', '```sqll', 'x', '```')).rejects.toThrow('page.md:2: nothing is known of the language "sqll"');
    await expect(page('<!-- file a -->', '')).rejects.toThrow(
      'page.md:1: no block follows with the content of the file',
    );
    await expect(page('```sql', 'x')).rejects.toThrow('page.md:1: nothing ends what begins here');
    await expect(page('```console', 'curl a', '```')).rejects.toThrow('page.md:2: a console block begins with "$ "');
  });
});

test('the words of a command', () => {
  expect(shellWords(`curl -i "a b"'c d' \\\n --json '{"x": 1}'`)).toEqual([
    'curl',
    '-i',
    'a bc d',
    '--json',
    '{"x": 1}',
  ]);
});

test.each([
  ['the same text', 'a b', 'a b\n', true],
  ['another text', 'a b', 'a c', false],
  ['the beginning only', 'a', 'a b', false],
  ['any text for …', '{"id":"…","x":1}', '{"id":"4711","x":1}', true],
  ['nothing else for …', '{"id":"…","x":1}', '{"id":"4711","x":2}', false],
  ['JSON with line breaks', '{\n  "a": [1,\n    2]\n}', '{"a":[1,2]}', true],
  ['spaces inside of strings', '{"a": "x y"}', '{"a":"x  y"}', false],
  ['other digits', '[1.50]', '[1.5]', false],
  ['headers and JSON', 'HTTP/1.1 200 OK\nx: 1\n\n[1, 2]', 'HTTP/1.1 200 OK\nx: 1\n\n[1,2]', true],
  ['other headers', 'HTTP/1.1 200 OK\nx: 1 2\n\n[1, 2]', 'HTTP/1.1 200 OK\nx: 12\n\n[1,2]', false],
])('an answer is shown by %s', (_, shown, printed, expected) => {
  expect(isShown(shown, printed)).toBe(expected);
});

const aged = (age: number, left: number, body = 'age: 0'): string =>
  `HTTP/1.1 200 OK\nage: ${age}\ncache-control: public, max-age=${left}\n\n${body}`;

test.each([
  ['nothing passed', aged(0, 299), true],
  ['two seconds have passed', aged(2, 297), true],
  ['three seconds have passed, more than allowed', aged(3, 296), false],
  ['one of the headers has changed too much', aged(1, 290), false],
  ['the age is in the future', aged(0, 300), false],
  ['a body has changed', aged(0, 299, 'age: 1'), false],
])('header values in seconds, two seconds after the page began: %s', (_, printed, expected) => {
  expect(isShown(aged(0, 299), printed, 2)).toBe(expected);
});
