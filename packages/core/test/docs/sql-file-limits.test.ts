import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { maxQueryCharacters } from '../../src/endpoints/value-query.ts';
import { maxParameters, maxStatements } from '../../src/sql-files/parse-file.ts';
import { maxBytes } from '../../src/sql-files/read-files.ts';
import { maxFaults } from '../../src/sql-files/scan.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/guide/sql-files.md'), 'utf8');

test('the page of SQL files has the limits of a file', () => {
  const limits = {
    bytes: maxBytes,
    statements: maxStatements,
    parameters: maxParameters,
    'characters of the query of a `param`': maxQueryCharacters,
    'mistakes that are reported': maxFaults,
  };
  const rows = Object.entries(limits).map(([name, limit]) => `| ${name} | ${limit.toLocaleString('en-US')} |\n`);
  expect(page).toContain(`| limit of a file | |\n|---|---|\n${rows.join('')}`);
});
