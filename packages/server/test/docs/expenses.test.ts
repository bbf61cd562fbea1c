import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage } from './page.ts';
import { root } from './stage.ts';

/* The page "A complete application" shows the files of `examples/expenses`. */

const file = 'docs/guide/example.md';
const folder = join(root, 'examples/expenses');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const text = readFileSync(join(root, file), 'utf8');
const { steps } = readPage(root, file);
const textsOf = (kind: 'sql' | 'config'): readonly string[] =>
  steps.flatMap((step) => (step.kind === kind ? [`${step.text.trimEnd()}\n`] : []));

test('the page shows every script and the configuration', () => {
  const scripts = readdirSync(join(folder, 'database')).toSorted();
  expect(textsOf('sql')).toEqual(expect.arrayContaining(scripts.map((name) => read(`database/${name}`))));
  expect(new Set(textsOf('config'))).toEqual(new Set([read('pgway.json')]));
  expect(text).toContain(read('provider.json'));
});

test('its parts of the page are in app.ts', () => {
  const parts = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, part]) => part!);
  expect(parts.length).toBe(3);
  for (const part of parts) expect(read('src/app.ts')).toContain(part);
});
