import { join } from 'node:path';
import { expect, test } from 'vitest';
import { annotations } from '../../src/endpoints/comment/registry.ts';
import { commentOptions } from '../../src/uploads/comment-options.ts';
import { commonUploadOptions } from '../../src/uploads/options.ts';
import { defaultUploadHandlers } from '../../src/uploads/default-handlers.ts';
import { excelHandler } from '../../../excel/src/index.ts';
import { annotationsPage, type UploadOptionTable } from './annotations-page.ts';

const committed = join(import.meta.dirname, '../../../../docs/reference/annotations.md');

const uploadOptions: UploadOptionTable = [
  [null, commentOptions(commonUploadOptions)],
  ...Object.entries({ ...defaultUploadHandlers({}), excel: excelHandler }).map(
    ([name, make]) => [name, make().options ?? {}] as const,
  ),
];

test('the committed page is that of the vocabulary: npm run docs', async () => {
  await expect(annotationsPage(annotations, uploadOptions)).toMatchFileSnapshot(committed);
});

test('every word stands in it, with its synonyms', () => {
  const page = annotationsPage(annotations);
  const names = annotations.flatMap((word) => word.names);
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`### ${name}\n`))).toEqual([]);
});

test('a section has the name, the syntax, the description and the synonyms', () => {
  const done = {
    names: ['done', 'finished', 'over'],
    syntax: ['x'],
    documentation: 'Does x.',
    isGuard: false,
    apply: () => null,
  };
  const page = annotationsPage([done]);

  expect(page.slice(page.indexOf('## Annotations'))).toBe(`## Annotations

### done

    x

Does x.

Synonyms: \`finished\` or \`over\`.

`);
});
