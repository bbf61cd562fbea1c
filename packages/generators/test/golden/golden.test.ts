import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crudSource, type Endpoint, type GatewayOptions } from '@pgway/core';
import { openApiDocument } from '@pgway/generators';
import { httpDocuments } from '@pgway/generators/internal';
import { useGateway } from '@pgway/testing';
import { describe, expect, test } from 'vitest';
import { clientOf, compile, root } from '../support.ts';

/**
 * The SQL of databases beside their plans and generated files. After an intended change:
 * `npx vitest run packages/generators/test/golden --update`, and read the difference.
 */

const library = ['schema', 'data', 'api'].map((name) =>
  readFileSync(join(root, `examples/library/${name}.sql`), 'utf8'),
);
const setup = (name: string): string => readFileSync(join(import.meta.dirname, name, 'setup.sql'), 'utf8');

const databases: readonly (readonly [name: string, sql: string, options: Partial<GatewayOptions>])[] = [
  ['library', library.join('\n'), {}],
  ['tables', setup('tables'), { sourcesCreated: (sources) => void sources.push(crudSource()) }],
  ['hostile', setup('hostile'), { sourcesCreated: (sources) => void sources.push(crudSource()) }],
];

/** OIDs are others in every database. */
function withoutOids(endpoints: readonly Endpoint[]): string {
  return `${JSON.stringify(endpoints, (key, value: unknown) => (key === 'oid' || key === 'baseOid' ? undefined : value), 2)}\n`;
}

describe.each(databases)('%s', (name, sql, options) => {
  const gateway = useGateway(sql, options);
  const golden = (file: string): string => join(import.meta.dirname, name, file);

  test('the plan', async () => {
    await expect(withoutOids(gateway.gateway.endpoints)).toMatchFileSnapshot(golden('plan.json'));
  });

  test('the client', async () => {
    const [module, types] = clientOf(gateway.gateway.endpoints);
    await expect(module!.content).toMatchFileSnapshot(golden('client.ts'));
    await expect(types!.content).toMatchFileSnapshot(golden('clientTypes.d.ts'));
    expect(await compile([module!, types!])).toBe('');
  });

  test('the requests', async () => {
    const [file] = httpDocuments(gateway.gateway.endpoints, {});
    await expect(file!.content).toMatchFileSnapshot(golden('requests.http'));
  });

  test('the document', async () => {
    const document = openApiDocument(gateway.gateway.endpoints);
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(golden('openapi.json'));
  });
});
