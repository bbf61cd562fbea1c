/** The data of the start page and the API docs page, from the model of the OpenAPI document. */
import { relatedTables, requestMethods } from '@pgway/core/internal';
import type { Endpoint } from '@pgway/core';
import { openApiDocument } from '@pgway/generators';
import { clientCalls, type OpenApiOperation, openApiOperations, openApiOptions } from '@pgway/generators/internal';
import type { PageAuthentication, PageData, PageLink, PageOperation } from '../browser/page-data.ts';
import { isProduction, signOutPath } from '../authentication-options.ts';
import type { Configuration } from '../config/schema.ts';
import { databaseOf, toOpenApiOptions, toTypescriptClientOptions } from '../config/generator-options.ts';
import { batchOperation, type OperationContext, pageOperation } from './page-operation.ts';
import { pageSchemas } from './page-schemas.ts';
import { schemaExample } from './schema-example.ts';
import { asObject, formatSchema } from './schema-text.ts';
import { signInPagePath } from './sign-in-path.ts';

export interface PageSource {
  readonly kind: PageData['kind'];
  /** The path of the page. */
  readonly path: string;
  readonly connectionString: string;
  readonly links: readonly PageLink[];
}

/** Returns the operations of the OpenAPI document, the same for each caller: the page knows its caller only after a login. */
export function pageData(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  { kind, path, connectionString, links }: PageSource,
): PageData {
  const { title, version, description, path: documentPath } = configuration.openApi;
  const isPublic = isProduction(configuration);
  const hasTitle = kind === 'docs' || isPublic || title !== openApiOptions.options.title.default;
  const document = openApiDocument(endpoints, toOpenApiOptions(configuration));
  const components = asObject(document['components']);
  const shared = { schemas: asObject(components['schemas']), responses: asObject(components['responses']) };
  const described = openApiOperations(endpoints, toOpenApiOptions(configuration));
  const operations = operationsOf(described, endpoints, configuration, { document, shared });
  return {
    kind,
    title: hasTitle ? title : databaseOf(connectionString),
    version,
    description: description ?? '',
    documentPath,
    links,
    authentication: pageAuthentication(configuration, path),
    problem: { type: formatSchema(shared.schemas['Problem']), example: schemaExample(shared.schemas['Problem']) },
    schemas: kind === 'docs' ? pageSchemas(described, shared.schemas) : [],
    operations: (isPublic ? operations.map(withoutDefaults) : operations).toSorted(compare),
  };
}

interface Described {
  readonly document: ReturnType<typeof openApiDocument>;
  readonly shared: OperationContext['shared'];
}

function operationsOf(
  described: readonly OpenApiOperation[],
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  { document, shared }: Described,
): readonly PageOperation[] {
  const originals = new Map(endpoints.map((endpoint) => [endpoint.table?.sourceData, endpoint]));
  const context: OperationContext = {
    shared,
    clientCall: clientCalls(endpoints, toTypescriptClientOptions(configuration)),
    // The endpoints of operations are copies, whose tables share the data of their source.
    relatedTables: ({ table }) => {
      const original = table?.sourceData === undefined ? undefined : originals.get(table.sourceData);
      return original === undefined ? [] : relatedTables(original);
    },
  };
  const operations = described.map((operation) => pageOperation(operation, context));
  const { batchPath } = configuration.gateway;
  if (batchPath === null) return operations;
  const batch = asObject(asObject(asObject(document['paths'])[batchPath])['post']);
  return [...operations, batchOperation(batchPath, batch, shared)];
}

/** Defaults are code, which the OpenAPI document does not publish. */
function withoutDefaults(operation: PageOperation): PageOperation {
  return { ...operation, parameters: operation.parameters.map((parameter) => ({ ...parameter, default: null })) };
}

function pageAuthentication(configuration: Configuration, path: string): PageAuthentication {
  const { cookie, bearer, jwt, authentication, externalSignIn } = configuration;
  const signInPath = signInPagePath(configuration);
  return {
    cookie: cookie.enabled,
    bearer: bearer.enabled || jwt.enabled,
    antiforgeryPath: authentication.antiforgeryPath,
    signInUrl: signInPath === null ? null : `${signInPath}?return_to=${encodeURIComponent(path)}`,
    signOutPath: signInPath === null ? null : signOutPath(externalSignIn),
  };
}

const methodOrder: readonly string[] = requestMethods;

/** Operations of no schema are last. */
function compare(left: PageOperation, right: PageOperation): number {
  if ((left.schema === '') !== (right.schema === '')) return left.schema === '' ? 1 : -1;
  const keys = ['schema', 'group', 'path'] as const;
  for (const key of keys) {
    if (left[key] !== right[key]) return left[key] < right[key] ? -1 : 1;
  }
  return methodOrder.indexOf(left.method) - methodOrder.indexOf(right.method);
}
