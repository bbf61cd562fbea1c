/** The endpoint at the path of the tables: it describes the others. */
import type { Endpoint } from '@pgway/core';
import type { PostgrestTable } from '../dialect-table.ts';
import type { ResolvedPostgrestOptions } from '../options.ts';
import { keepSchemas, type Target } from '../target.ts';
import { toTransactionOptions } from '../transaction-options.ts';

/** The document with the endpoints that it may describe, in the order of their schemas. */
interface Root {
  readonly options: PostgrestTable;
  /** Whether the document has only what the caller may do. */
  readonly followsPrivileges: boolean;
  readonly serverUrl: string | null;
  resources: readonly Endpoint[];
  /** Those that requests may name. */
  schemas: ReadonlySet<string>;
  /** The last documents, by what they depend on. The oldest one comes first. */
  readonly documents: Map<string, string>;
}

/** Documents of one gateway: callers have few different sets of privileges, and a document of many tables takes 100 ms to make. */
const maxDocuments = 8;

/** By an object that copies of an endpoint keep. */
const roots = new WeakMap<Endpoint['parameters'], Root>();

export function isRoot({ parameters }: Endpoint): boolean {
  return roots.has(parameters);
}

/**
 * Returns the endpoint of the document; none without endpoints that it can describe, or where it is disabled. Its callers must be signed in if they must be for each of
 * the others, and its limits and settings are those of the first endpoint with the weakest authorization.
 * @param endpoints those of the dialect, in the order of their schemas
 */
export function createRoot(endpoints: readonly Endpoint[], resolved: ResolvedPostgrestOptions): readonly Endpoint[] {
  if (resolved.openApiMode === 'disabled') return [];
  const described = endpoints.filter(isDescribed);
  const base = described.find(({ authorization }) => !authorization.required) ?? described[0];
  if (base === undefined) return [];
  const { path, allowAggregates, limits, serverUrl } = resolved;
  const parameters: Endpoint['parameters'] = Object.freeze([]);
  const options: PostgrestTable = {
    path,
    transaction: toTransactionOptions(resolved),
    allowAggregates,
    planEnabled: false,
    allowUnfilteredUpdate: false,
    conflictActions: [],
    maxRows: limits.maxLimit,
  };
  roots.set(parameters, {
    options,
    followsPrivileges: resolved.openApiMode === 'follow-privileges',
    serverUrl,
    resources: [],
    schemas: new Set(),
    documents: new Map(),
  });
  return [toRoot(base, { schema: described[0]!.schema, path: path === '' ? '/' : path, parameters })];
}

/** Endpoints with a connection or credentials of their own are left out: the privileges of their callers are unknown here. */
function isDescribed({ connection, basicAuthentication }: Endpoint): boolean {
  return connection === null && basicAuthentication === null;
}

function toRoot(base: Endpoint, own: Pick<Endpoint, 'schema' | 'path' | 'parameters'>): Endpoint {
  const { authorization, rateLimit, userContext, requestHeaders, timeoutMs, planCacheMode, typedClient } = base;
  return Object.freeze({
    ...own,
    id: `postgrest document ${own.path}`,
    source: base.source,
    dialect: 'postgrest',
    kind: 'function',
    name: 'document',
    method: 'GET',
    parameterSource: 'query',
    rejectsUnknownKeys: false,
    outputs: [],
    table: null,
    constraintMessages: {},
    result: { kind: 'nothing' },
    contentType: null,
    responseHeaders: [],
    authorization: { required: authorization.required, roles: [] },
    loginOrLogout: null,
    basicAuthentication: null,
    events: null,
    userContext,
    tags: [],
    typedClient: { ...typedClient, included: false },
    upload: null,
    cache: null,
    rateLimit,
    invalidates: [],
    raw: null,
    connection: null,
    // A header that is an argument of a function has no meaning here.
    requestHeaders: requestHeaders.mode === 'context' ? requestHeaders : { mode: 'ignore' },
    bodyParameter: null,
    sensitive: false,
    planCacheMode,
    bufferRows: base.bufferRows,
    responseSettings: base.responseSettings,
    timeoutMs,
    textResponseNullHandling: base.textResponseNullHandling,
    queryStringNullHandling: base.queryStringNullHandling,
    description: 'OpenAPI 2 document of what the caller may do',
    volatility: 'stable',
  } satisfies Endpoint);
}

/** Keeps the endpoints of a load that the document may describe. */
export function keepResources(root: Endpoint, resources: readonly Endpoint[]): void {
  const kept = roots.get(root.parameters)!;
  kept.resources = resources.filter(isDescribed);
  kept.schemas = new Set(resources.map(({ schema }) => schema));
  kept.documents.clear();
  keepSchemas([kept.options], kept.schemas);
}

/**
 * Returns a document, which is made for the first request with these facts after a load.
 * @param facts all that the document depends on, but the endpoints of the load
 */
export function cachedDocument(root: Endpoint, facts: readonly string[], make: () => string): string {
  const { documents } = roots.get(root.parameters)!;
  const key = JSON.stringify(facts);
  const document = documents.get(key) ?? make();
  documents.delete(key);
  documents.set(key, document);
  if (documents.size > maxDocuments) documents.delete(documents.keys().next().value!);
  return document;
}

export function rootOf(root: Endpoint): Pick<Root, 'resources' | 'followsPrivileges' | 'serverUrl'> {
  return roots.get(root.parameters)!;
}

/** Returns the target of a request for the document of a schema. An unknown schema leaves the first one, and the request is refused. */
export function rootTarget(endpoint: Endpoint, profile: string | undefined): Target {
  const { options, schemas } = roots.get(endpoint.parameters)!;
  const schema = profile !== undefined && schemas.has(profile) ? profile : endpoint.schema;
  return { endpoint, schema, name: '', columns: new Map(), key: [], options, allowUnfilteredDelete: false };
}
