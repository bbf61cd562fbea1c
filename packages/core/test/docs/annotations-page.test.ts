import { join } from 'node:path';
import { expect, test } from 'vitest';
import { annotations } from '../../src/endpoints/comment/registry.ts';
import { annotationsPage } from './annotations-page.ts';

const committed = join(import.meta.dirname, '../../../../docs/reference/annotations.md');

test('the committed page is that of the vocabulary: npm run docs', async () => {
  await expect(annotationsPage(annotations)).toMatchFileSnapshot(committed);
});

test('every word stands in it, with its synonyms', () => {
  const page = annotationsPage(annotations);
  const names = annotations.flatMap((word) => word.names);
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`### ${name}\n`))).toEqual([]);
});

test('a word that is not done is told apart by what happens to its endpoint', () => {
  const word = { syntax: ['x'], documentation: 'Does x.', guards: false, apply: () => null };
  const refuses = { ...word, names: ['refuses', 'denies'], supported: false };
  const done = { ...word, names: ['done', 'finished', 'over'], supported: true };
  const page = annotationsPage([
    done,
    { ...refuses, apply: () => ({ code: 'unsupported-word', message: 'no', severity: 'error' }) },
  ]);

  expect(page.slice(page.indexOf('## Words'))).toBe(`## Words

### done

    x

Does x.

Also written \`finished\` or \`over\`.

## Words that are not supported yet

These words are kept for later versions. A line that begins with one is reported at the start; where the endpoint would
be wrong without it, the endpoint is not published. If such a line is prose, begin it with another word.

| word | the endpoint |
|---|---|
| \`refuses\`, \`denies\` | is not published |
`);
});
