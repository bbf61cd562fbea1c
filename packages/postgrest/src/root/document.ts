/** The OpenAPI 2 document of PostgREST, of what a caller may do. */
import { groupBy } from '@pgway/core/internal';
import { functionOf } from '../rpc/function-target.ts';
import type { AllowedResource } from './allowed-resource.ts';
import { functionPath } from './function-paths.ts';
import { sharedParameters, summaryOf, type SwaggerObject } from './swagger.ts';
import { allowedTable, definitionOf, tableParameters, tablePath } from './table-paths.ts';

interface DocumentParts {
  readonly schema: string;
  /** That of the schema: its first line is the title of the document. */
  readonly comment: string | null;
  /** The path of the tables. */
  readonly path: string;
  readonly resources: readonly AllowedResource[];
}

/** Returns the document. It has no host: clients use the one that they have it from. */
export function openApi2Document({ schema, comment, path, resources }: DocumentParts): SwaggerObject {
  const tables = resources.flatMap((resource) => allowedTable(resource) ?? []);
  const functions = resources.filter(({ endpoints }) => functionOf(endpoints[0]!) !== undefined);
  const byName = groupBy(functions, ({ endpoints }) => endpoints[0]!.name);
  const { summary: title = schema, description = `What the caller may do in the schema ${schema}` } = summaryOf(
    comment ?? '',
  );
  const visible = new Map(tables.map((table) => [table.target.name, table]));
  return {
    swagger: '2.0',
    info: {
      title,
      description,
      version: '1.0.0',
    },
    externalDocs: { description: 'PostgREST Documentation', url: 'https://postgrest.org/en/v16/references/api.html' },
    basePath: path === '' ? '/' : path,
    consumes: mediaTypes,
    produces: mediaTypes,
    paths: Object.fromEntries([
      ['/', rootPath],
      ...tables.map(tablePath),
      // Of overloads with one name, the first one stands for all.
      ...[...byName.values()].map(([first]) => functionPath(first!.endpoints)),
    ]),
    definitions: Object.fromEntries(tables.map((table) => [table.target.name, definitionOf(table, visible)])),
    parameters: { ...sharedParameters, ...Object.fromEntries(tables.flatMap(tableParameters)) },
  };
}

const mediaTypes: readonly string[] = [
  'application/json',
  'application/vnd.pgrst.object+json;nulls=stripped',
  'application/vnd.pgrst.object+json',
  'text/csv',
];

const rootPath: SwaggerObject = {
  get: {
    tags: ['Introspection'],
    summary: 'OpenAPI description (this document)',
    produces: ['application/openapi+json', 'application/json'],
    responses: { 200: { description: 'OK' } },
  },
};
