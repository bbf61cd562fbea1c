import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crudSource } from '@pgway/core';
import { openApiDocument } from '@pgway/generators';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { customers, planned } from './endpoints.ts';
import { complaints } from './open-api-validators.ts';
import { root } from './support.ts';

/** Redocly's recommended rules require a licence. */
const options = { license: 'MIT' };
const document = openApiDocument([], options);
const operation = { operationId: 'a', summary: 'a', security: [], responses: { 200: { description: 'x' } } };

test.each([
  ['the schema', { ...document, paths: { '/a': { get: { ...operation, responses: 'none' } } } }],
  ['a rule', { ...document, paths: { '/a': { get: { ...operation, security: undefined } } } }],
])('the validators see what breaks %s', async (_, wrong) => {
  expect(await complaints(wrong)).not.toEqual([]);
});

test('operations on tables, with and without sign-in', async () => {
  const endpoints = planned([...customers(true), { comment: 'HTTP\nauthorize staff' }]);
  expect(await complaints(openApiDocument(endpoints, options))).toEqual([]);
});

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe.each([
  ['the example database', ['schema', 'data', 'api'].map((name) => read(`examples/library/${name}.sql`)).join('\n')],
  ['the database of tables', read('packages/generators/test/golden/tables/setup.sql')],
  ['the hostile database', read('packages/generators/test/golden/hostile/setup.sql')],
])('%s', (_, sql) => {
  const gateway = useGateway(sql, { sourcesCreated: (sources) => void sources.push(crudSource()) });

  test('the document has no errors or warnings', async () => {
    const described = openApiDocument(gateway.gateway.endpoints, options);
    expect(Object.keys(described['paths'] as object).length).toBeGreaterThan(5);
    expect(await complaints(described)).toEqual([]);
  });
});
