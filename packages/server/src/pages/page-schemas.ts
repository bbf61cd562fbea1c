/** The schemas that the API docs page lists: the rows of tables, and the shared schemas of the OpenAPI document. */
import type { OpenApiOperation } from '@pgway/generators/internal';
import type { PageSchema } from '../browser/page-data.ts';
import { schemaExample } from './schema-example.ts';
import { asObject, formatSchema, type SharedSchemas } from './schema-text.ts';

export function pageSchemas(operations: readonly OpenApiOperation[], shared: SharedSchemas): readonly PageSchema[] {
  const rows = new Map(operations.flatMap(rowSchema));
  return [...[...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)), ...Object.entries(shared)].map(
    ([name, schema]) => ({ name, type: formatSchema(schema, shared), example: schemaExample(schema, shared) }),
  );
}

/** Returns the name of a table with the schema of its rows; nothing for other operations. */
function rowSchema({ method, endpoints, object }: OpenApiOperation): readonly (readonly [string, unknown])[] {
  const [{ table, schema, name, dialect }] = endpoints as [OpenApiOperation['endpoints'][number]];
  if (table === null || dialect !== undefined || method !== 'GET') return [];
  const content = asObject(asObject(asObject(object['responses'])['200'])['content']);
  const items = asObject(asObject(asObject(content['application/json'])['schema'])['items']);
  // Beside the whole row, there may be one of selected members.
  const [row] = [items['anyOf'] ?? items].flat();
  return Object.keys(asObject(row)).length === 0 ? [] : [[`${schema}.${name}`, row]];
}
