import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './stage.ts';

/* Words are counted as by `wc -w`: code and tables count, too. Cut what a page repeats before you add to it. */

const folder = join(root, 'docs/guide');
const words = readdirSync(folder).map(
  (name) => [name, readFileSync(join(folder, name), 'utf8').trim().split(/\s+/).length] as const,
);

test('no page of the guide has more than 2,000 words', () => {
  expect(words.filter(([, count]) => count > 2000)).toEqual([]);
});

test('the guide has at most 55,000 words', () => {
  expect(words.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(55_000);
});
