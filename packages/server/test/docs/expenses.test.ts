import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage } from './page.ts';
import { root } from './stage.ts';

/* The page "A complete application" runs the files of `examples/expenses`. */

const file = 'docs/guide/example.md';
const folder = join(root, 'examples/expenses');
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const { steps } = readPage(root, file);
const textsOf = (kind: 'sql' | 'config'): readonly string[] =>
  steps.flatMap((step) => (step.kind === kind ? [step.text] : []));

test('the page runs every script and the configuration', () => {
  const scripts = readdirSync(join(folder, 'database')).toSorted();
  expect(textsOf('sql')).toEqual(expect.arrayContaining(scripts.map((name) => read(`database/${name}`))));
  expect(new Set(textsOf('config'))).toEqual(new Set([read('pgway.json')]));
});

test('the page has less than 2,000 words, and the script of the application at most 300 lines', () => {
  expect(readFileSync(join(root, file), 'utf8').split(/\s+/).length).toBeLessThan(2000);
  expect(read('src/app.ts').trimEnd().split('\n').length).toBeLessThanOrEqual(300);
});
