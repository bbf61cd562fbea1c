/** The page of the example database: uploads through the generated client. */
import { readFileSync } from 'node:fs';
import type { Endpoint } from '@pgway/core';
import { typescriptClientFiles } from '@pgway/generators';
import type { PageLink } from '../browser/page-data.ts';
import type { Configuration } from '../config/schema.ts';
import { type DocumentHandler, requestPath, type ServedDocument, sendDocument } from '../http/send-document.ts';
import { exampleFolder } from './example-folder.ts';

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const script = 'text/javascript; charset=utf-8';
const pagePath = '/library';
const clientPath = '/client.js';

/** Whether the server publishes the example database. */
export function hasExample({ connectionString, embedded }: Configuration): boolean {
  return connectionString === null && embedded.example;
}

export function exampleLinks(configuration: Configuration): readonly PageLink[] {
  return hasExample(configuration) ? [{ label: 'Example application', path: pagePath }] : [];
}

/** Reads the files of the page. Endpoints take precedence over them. */
export function createExamplePageHandler({ gateway }: Configuration): DocumentHandler {
  const files = pageFiles();
  const clients = new WeakMap<readonly Endpoint[], ServedDocument>();
  const clientOf = (endpoints: readonly Endpoint[]): ServedDocument => {
    const known = clients.get(endpoints);
    if (known !== undefined) return known;
    const options = { filePath: 'client.ts', skipTypes: true, headerLines: [], urlPathPrefix: gateway.urlPathPrefix };
    const [client] = typescriptClientFiles(endpoints, options, new Date());
    const document = { type: script, content: client!.content };
    clients.set(endpoints, document);
    return document;
  };
  return (endpoints, request, response) => {
    const path = requestPath(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    if (path !== clientPath && !files.has(path)) return false;
    if (endpoints.some((endpoint) => endpoint.path === path)) return false;
    const document = files.get(path) ?? clientOf(endpoints);
    sendDocument(document, request, response);
    return true;
  };
}

function pageFiles(): ReadonlyMap<string, ServedDocument> {
  const folder = exampleFolder();
  const read = (file: string): Buffer => readFileSync(new URL(file, folder));
  return new Map([
    [pagePath, { type: 'text/html; charset=utf-8', content: read('web/index.html'), contentSecurityPolicy }],
    ['/library.js', { type: script, content: read('web/library.js') }],
    ['/library.css', { type: 'text/css; charset=utf-8', content: read('web/library.css') }],
    ['/books.csv', { type: 'text/csv; charset=utf-8', content: read('books.csv') }],
  ]);
}
