/** The start page: a page, its script and style, and its data. */
import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@pgway/core';
import type { PageLink } from '../browser/page-data.ts';
import { apiDocsLinks } from './api-docs.ts';
import { isProduction } from '../authentication-options.ts';
import type { Configuration } from '../config/schema.ts';
import { exampleLinks } from '../example/example-page.ts';
import { isLocalRequest } from '../http/local-request.ts';
import { type DocumentLookup, requestPath, type ServedDocument } from '../http/send-document.ts';
import { assetsPath, callerPath, findAsset, pageAssets } from './page-assets.ts';
import { pageData } from './page-data.ts';
import { pageDocument } from './page-document.ts';

const dataPath = `${assetsPath}endpoints.json`;

/** The paths of all files of the page. */
export const startPageFiles: readonly string[] = [
  dataPath,
  callerPath,
  ...[...pageAssets].map((name) => `${assetsPath}${name}`),
];

const withoutScripts =
  'This page needs JavaScript. The option <code>openApi.path</code> serves a document with the endpoints.';

/** Whether the start page is served, at least to browsers on this machine. */
function hasStartPage(configuration: Configuration): boolean {
  return configuration.startPage.enabled ?? !isProduction(configuration);
}

/** Returns the path of the page; null where endpoints or static files may answer instead. */
export function startPagePath(configuration: Configuration, endpoints: readonly Endpoint[]): string | null {
  const { startPage, staticFiles } = configuration;
  const isTaken = endpoints.some(({ path }) => path === startPage.path);
  const mayBeFile = staticFiles.root !== null && startPage.path === '/';
  return hasStartPage(configuration) && !isTaken && !mayBeFile ? startPage.path : null;
}

/** Returns null when the page is not served. The data is generated at the first request, and again after a refresh. */
export function createStartPage(configuration: Configuration, connectionString: string): DocumentLookup | null {
  if (!hasStartPage(configuration)) return null;
  const { enabled, path } = configuration.startPage;
  const isAllowed = enabled === true ? () => true : isLocalRequest;
  const links = pageLinks(configuration);
  const generated = new WeakMap<readonly Endpoint[], ReadonlyMap<string, ServedDocument>>();
  const generate = (endpoints: readonly Endpoint[]): ReadonlyMap<string, ServedDocument> => {
    const data = pageData(endpoints, configuration, { kind: 'start', path, connectionString, links });
    return new Map([
      [path, pageDocument({ title: data.title, dataPath, withoutScripts })],
      [dataPath, { type: 'application/json', content: JSON.stringify(data) }],
    ]);
  };
  return (endpoints: readonly Endpoint[], request: IncomingMessage) => {
    const requested = requestPath(request);
    const isAsset = requested.startsWith(assetsPath);
    if ((requested !== path && !isAsset) || !isRead(request) || !isAllowed(request)) return null;
    if (requested !== path && requested !== dataPath) return findAsset(requested, pageAssets);
    const documents = generated.get(endpoints) ?? generate(endpoints);
    generated.set(endpoints, documents);
    return documents.get(requested)!;
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function pageLinks(configuration: Configuration): readonly PageLink[] {
  const { health, metrics } = configuration;
  return [
    ...exampleLinks(configuration),
    ...apiDocsLinks(configuration),
    ...(health.path === null ? [] : [{ label: 'Health', path: health.path }]),
    ...(metrics.path === null ? [] : [{ label: 'Metrics', path: metrics.path }]),
  ];
}
