/** The OpenAPI 2 document of PostgREST, of what a caller may do. */
import { groupBy } from '@pgway/core/internal';
import { functionOf } from '../rpc/function-target.ts';
import type { AllowedResource } from './allowed-resource.ts';
import { functionPath } from './function-paths.ts';
import { loginScheme, needsLogin, sharedParameters, summaryOf, type SwaggerObject } from './swagger.ts';
import { allowedTable, definitionOf, tableParameters, tablePath } from './table-paths.ts';

interface DocumentParts {
  readonly schema: string;
  /** That of the schema: its first line is the title of the document. */
  readonly comment: string | null;
  /** The path of the tables. */
  readonly path: string;
  /** The URL in front of the path; null: clients use the host that they have the document from. */
  readonly serverUrl: string | null;
  readonly resources: readonly AllowedResource[];
}

/** Returns the document. Without `serverUrl`, it has no host. */
export function openApi2Document({ schema, comment, path, serverUrl, resources }: DocumentParts): SwaggerObject {
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
    ...serverOf(serverUrl, path),
    ...securityOf(resources),
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

/** The port of a proxy is part of the host, also where it is that of the scheme. */
function serverOf(serverUrl: string | null, path: string): SwaggerObject {
  if (serverUrl === null) return { basePath: path === '' ? '/' : path };
  const { protocol, hostname, port, pathname } = new URL(serverUrl);
  const scheme = protocol.slice(0, -1);
  const base = `${pathname.replace(/\/+$/, '')}${path}`;
  return {
    schemes: [scheme],
    host: `${hostname}:${port === '' ? (scheme === 'https' ? 443 : 80) : port}`,
    basePath: base === '' ? '/' : base,
  };
}

/** The scheme of operations that need a login, if there are some. */
function securityOf(resources: readonly AllowedResource[]): SwaggerObject {
  if (!resources.some(({ endpoints }) => endpoints.some(needsLogin))) return {};
  return {
    securityDefinitions: {
      [loginScheme]: {
        description: 'Add the token prepending "Bearer " (without quotes) to it',
        in: 'header',
        name: 'Authorization',
        type: 'apiKey',
      },
    },
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
