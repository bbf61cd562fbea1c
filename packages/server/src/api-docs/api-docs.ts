/** Documents about the endpoints, served beside them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Endpoint, httpDocuments, openApiDocument } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { httpFileOptions, openApiOptions } from '../generated-files.ts';
import { docsPage } from './html-page.ts';

/** Answers a request for a document; false when it is for none. */
export type Documents = (endpoints: readonly Endpoint[], request: IncomingMessage, response: ServerResponse) => boolean;

interface Document {
  readonly type: string;
  readonly content: string;
}

const html = 'text/html; charset=utf-8';
const plain = 'text/plain; charset=utf-8';

/** The page has no script, and nothing of it comes from elsewhere. */
const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What the configuration wants served. Documents are made when one is asked for first, and again after a refresh. */
export function servedDocuments(configuration: Configuration, connectionString: string): Documents {
  const made = new WeakMap<readonly Endpoint[], ReadonlyMap<string, Document>>();
  return (endpoints, request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]!;
    if (!mayServe(path, configuration) || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const documents = made.get(endpoints) ?? documentsOf(endpoints, configuration, connectionString);
    made.set(endpoints, documents);
    const document = documents.get(path);
    if (document === undefined) return false;
    send(document, request, response);
    return true;
  };
}

/** Endpoints that nobody can read any more, because a document is served at their path. */
export function hiddenEndpoints(endpoints: readonly Endpoint[], configuration: Configuration): readonly Endpoint[] {
  return endpoints.filter(
    ({ method, path }) => (method === 'GET' || method === 'HEAD') && mayServe(path, configuration),
  );
}

/** Most requests are for endpoints: they are told apart without making anything. */
function mayServe(path: string, configuration: Configuration): boolean {
  const { openApi } = configuration;
  const requests = requestsPath(configuration);
  if (path === openApi.path || path === openApi.docsPath || path === requests) return true;
  return requests !== null && path.startsWith(`${requests}/`) && path.endsWith('.http');
}

function requestsPath({ httpFile }: Configuration): string | null {
  return httpFile.option === 'file' ? null : httpFile.path;
}

function documentsOf(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  connectionString: string,
): ReadonlyMap<string, Document> {
  const { openApi } = configuration;
  const requests = requestsPath(configuration);
  const document = openApiDocument(endpoints, openApiOptions(configuration));
  const documents = new Map<string, Document>();
  if (openApi.path !== null)
    documents.set(openApi.path, { type: 'application/json', content: JSON.stringify(document) });
  if (openApi.docsPath !== null) {
    documents.set(openApi.docsPath, { type: html, content: docsPage(document, openApi.path) });
  }
  if (requests === null) return documents;
  const files = httpDocuments(endpoints, httpFileOptions(configuration, connectionString));
  for (const { name, content } of files) {
    const path = files.length === 1 ? requests : `${requests}/${encodeURIComponent(name)}`;
    documents.set(path, { type: plain, content });
  }
  return documents;
}

function send({ type, content }: Document, request: IncomingMessage, response: ServerResponse): void {
  const bytes = Buffer.from(content);
  response.writeHead(200, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(type === html ? { 'content-security-policy': pagePolicy, 'referrer-policy': 'no-referrer' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
