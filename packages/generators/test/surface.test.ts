import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as generators from '@pgway/generators';
import { expect, test } from 'vitest';

/** The public surface. A change here needs a line in CHANGELOG, and a major version when it breaks programs. */

test('the names that a program can import are in the guide', () => {
  const names = Object.keys(generators).toSorted();
  expect(names).toEqual([
    'GeneratorError',
    'compareFiles',
    'httpFile',
    'httpFiles',
    'openApi',
    'openApiDiagnostics',
    'openApiDocument',
    'openApiFiles',
    'typescriptClient',
    'typescriptClientDiagnostics',
    'typescriptClientFiles',
    'writeFiles',
  ]);
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/clients.md'), 'utf8');
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(guide))).toEqual([]);
});
