import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { jsonSchemaFile, referencePage } from '../../src/config/reference.ts';
import { settings } from '../../src/config/settings.ts';

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8');

test('the committed reference and JSON Schema match the schema: npm run reference -w pgway', async () => {
  expect(await read('../../../../docs/reference/configuration.md')).toBe(referencePage());
  expect(await read('../../pgway.schema.json')).toBe(jsonSchemaFile());
});

test('the reference begins with the settings of pgway init', () => {
  const [, begin] = referencePage().split('\n## ');
  expect(begin).toMatch(/^The 40 settings to begin with\n/);
  expect(begin).toContain('\n| `port` | `8080` | The port to listen on. |\n');
  expect(begin).toContain('\n| `jwt.jwks.url` | `null` | The URL of the public keys of the issuer (JWKS). |\n');
});

test('every setting is described', () => {
  expect(settings.length).toBeGreaterThan(35);
  expect(settings.filter((setting) => setting.description === '').map((setting) => setting.path)).toEqual([]);
});

test('editors accept variables in settings of every type, and complete the values of others', () => {
  const { properties } = JSON.parse(jsonSchemaFile()) as { properties: Record<string, unknown> };
  const variable = { type: 'string', pattern: String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*(:[^}]*)?\}` };

  expect(properties['host']).toEqual({
    type: 'string',
    minLength: 1,
    default: '127.0.0.1',
    description: expect.any(String) as string,
  });
  expect(properties['port']).toEqual({
    anyOf: [{ type: 'integer', minimum: 0, maximum: 65_535 }, variable],
    default: 8080,
    description: expect.any(String) as string,
  });
  expect(properties['gateway']).toMatchObject({
    properties: {
      commentsMode: { anyOf: [{ type: 'string', enum: ['onlyWithHttpTag', 'parseAll', 'ignore'] }, variable] },
      poolSize: { anyOf: [{ type: 'integer' }, { type: 'null' }, variable] },
    },
  });
});
