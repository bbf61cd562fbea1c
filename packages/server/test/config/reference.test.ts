import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { jsonSchemaFile, referencePage } from '../../src/config/reference.ts';
import { settings } from '../../src/config/settings.ts';

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8');

test('the committed reference and JSON Schema match the schema: npm run reference -w pgway', async () => {
  expect(await read('../../../../docs/reference/configuration.md')).toBe(referencePage());
  expect(await read('../../pgway.schema.json')).toBe(jsonSchemaFile());
});

test('every setting is described', () => {
  expect(settings.length).toBeGreaterThan(35);
  expect(settings.filter((setting) => setting.description === '').map((setting) => setting.path)).toEqual([]);
});
