/** The API docs that are served beside the endpoints: OpenAPI document, HTML page, request files. */
import type { Endpoint } from '@pgway/core';
import { openApiDocument } from '@pgway/generators';
import { httpDocuments } from '@pgway/generators/internal';
import type { PageLink } from '../browser/page-data.ts';
import type { Configuration } from '../config/schema.ts';
import { toHttpFileOptions, toOpenApiOptions } from '../config/generator-options.ts';
import { type DocumentHandler, requestPath, type ServedDocument, sendDocument } from '../http/send-document.ts';
import { htmlPage } from './html-page.ts';

const html = 'text/html; charset=utf-8';
const plain = 'text/plain; charset=utf-8';

/** The page has inline styles and loads nothing. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Files are generated at the first request, and again after a refresh. */
export function createApiDocsHandler(configuration: Configuration, connectionString: string): DocumentHandler {
  const generated = new WeakMap<readonly Endpoint[], ReadonlyMap<string, ServedDocument>>();
  return (endpoints, request, response) => {
    const path = requestPath(request);
    if (!isDocsPath(path, configuration) || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const files = generated.get(endpoints) ?? generate(endpoints, configuration, connectionString);
    generated.set(endpoints, files);
    const file = files.get(path);
    if (file === undefined) return false;
    sendDocument(file, request, response);
    return true;
  };
}

/** Returns the links to the files. One request file per schema has no path that is known before the first request. */
export function apiDocsLinks(configuration: Configuration): readonly PageLink[] {
  const { openApi, httpFile } = configuration;
  const requestFile = !httpFile.namePattern.includes('{1}') ? requestFilesPath(configuration) : null;
  const links = [
    { label: 'API docs', path: openApi.docsPath },
    { label: 'OpenAPI', path: openApi.path },
    { label: 'Request file', path: requestFile },
  ];
  return links.flatMap(({ label, path }) => (path === null ? [] : [{ label, path }]));
}

/** Returns the endpoints whose path is taken by the API docs. */
export function shadowedEndpoints(endpoints: readonly Endpoint[], configuration: Configuration): readonly Endpoint[] {
  return endpoints.filter(
    ({ method, path }) => (method === 'GET' || method === 'HEAD') && isDocsPath(path, configuration),
  );
}

/** Whether a path can belong to the API docs. Requests for endpoints must not generate them. */
export function isDocsPath(path: string, configuration: Configuration): boolean {
  const { openApi } = configuration;
  const requestFiles = requestFilesPath(configuration);
  if (path === openApi.path || path === openApi.docsPath || path === requestFiles) return true;
  return requestFiles !== null && path.startsWith(`${requestFiles}/`) && path.endsWith('.http');
}

function requestFilesPath({ httpFile }: Configuration): string | null {
  return httpFile.path;
}

function generate(
  endpoints: readonly Endpoint[],
  configuration: Configuration,
  connectionString: string,
): ReadonlyMap<string, ServedDocument> {
  const { openApi } = configuration;
  const requestFiles = requestFilesPath(configuration);
  const document = openApiDocument(endpoints, toOpenApiOptions(configuration));
  const served = new Map<string, ServedDocument>();
  if (openApi.path !== null) served.set(openApi.path, { type: 'application/json', content: JSON.stringify(document) });
  if (openApi.docsPath !== null) {
    const content = htmlPage(document, openApi.path);
    served.set(openApi.docsPath, { type: html, content, contentSecurityPolicy });
  }
  if (requestFiles === null) return served;
  const files = httpDocuments(endpoints, toHttpFileOptions(configuration, connectionString));
  for (const { name, content } of files) {
    const path = files.length === 1 ? requestFiles : `${requestFiles}/${encodeURIComponent(name)}`;
    served.set(path, { type: plain, content });
  }
  return served;
}
