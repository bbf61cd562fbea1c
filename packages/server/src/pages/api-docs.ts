/** The API docs that are served beside the endpoints: OpenAPI document, HTML page, request files. */
import type { Endpoint } from '@pgway/core';
import { escapeHtml } from '@pgway/core/internal';
import { openApiDocument } from '@pgway/generators';
import { httpDocuments } from '@pgway/generators/internal';
import type { PageLink } from '../browser/page-data.ts';
import type { Configuration } from '../config/schema.ts';
import { toHttpFileOptions, toOpenApiOptions } from '../config/generator-options.ts';
import {
  type DocumentHandler,
  type DocumentLookup,
  requestPath,
  type ServedDocument,
  sendDocument,
} from '../http/send-document.ts';
import { assetsPath, findAsset, pageAssets } from './page-assets.ts';
import { pageData } from './page-data.ts';
import { pageDocument } from './page-document.ts';

const plain = 'text/plain; charset=utf-8';
/** The data of the HTML page. */
const dataPath = `${assetsPath}api-docs.json`;

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

/** Returns the lookup of the data and the assets of the HTML page; null when the page is not served. */
export function createApiDocsPage(configuration: Configuration, connectionString: string): DocumentLookup | null {
  const { docsPath } = configuration.openApi;
  if (docsPath === null) return null;
  const generated = new WeakMap<readonly Endpoint[], ServedDocument>();
  const links = requestFileLinks(configuration);
  const source = { kind: 'docs', path: docsPath, connectionString, links } as const;
  return (endpoints, request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null;
    const path = requestPath(request);
    if (path !== dataPath) return findAsset(path, pageAssets);
    const content = (): string => JSON.stringify(pageData(endpoints, configuration, source));
    const document = generated.get(endpoints) ?? { type: 'application/json', content: content() };
    generated.set(endpoints, document);
    return document;
  };
}

/** Returns the links to the files. One request file per schema has no path that is known before the first request. */
export function apiDocsLinks(configuration: Configuration): readonly PageLink[] {
  const { openApi } = configuration;
  const links = [
    { label: 'API docs', path: openApi.docsPath },
    { label: 'OpenAPI', path: openApi.path },
  ];
  return [
    ...links.flatMap(({ label, path }) => (path === null ? [] : [{ label, path }])),
    ...requestFileLinks(configuration),
  ];
}

function requestFileLinks({ httpFile: { path, namePattern } }: Configuration): readonly PageLink[] {
  return path === null || namePattern.includes('{1}') ? [] : [{ label: 'Request file', path }];
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
  const served = new Map<string, ServedDocument>();
  if (openApi.path !== null) {
    const document = openApiDocument(endpoints, toOpenApiOptions(configuration));
    served.set(openApi.path, { type: 'application/json', content: JSON.stringify(document) });
  }
  if (openApi.docsPath !== null) {
    const withoutScripts = withoutScriptsText(openApi.path);
    served.set(openApi.docsPath, pageDocument({ title: openApi.title, dataPath, withoutScripts }));
  }
  if (requestFiles === null) return served;
  const files = httpDocuments(endpoints, toHttpFileOptions(configuration, connectionString));
  for (const { name, content } of files) {
    const path = files.length === 1 ? requestFiles : `${requestFiles}/${encodeURIComponent(name)}`;
    served.set(path, { type: plain, content });
  }
  return served;
}

function withoutScriptsText(documentPath: string | null): string {
  const link = documentPath === null ? '' : ` <a href="${escapeHtml(documentPath)}">OpenAPI document</a>`;
  return `This page needs JavaScript.${link}`;
}
