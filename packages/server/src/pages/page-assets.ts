/** The scripts and styles of the pages, which the browser loads from one folder. */
import { callerDocument } from '../http/caller-document.ts';
import type { ServedDocument } from '../http/send-document.ts';
import { readPackageFile } from '../package-files.ts';

export const assetsPath = '/_pgway/';
/** Whether the caller is signed in. */
export const callerPath = `${assetsPath}caller.json`;

/** The modules of the start page and the API docs page, in `browser/`. The first one imports the others. */
export const scriptModules = [
  'page.js',
  'choices.js',
  'code-samples.js',
  'code-view.js',
  'copy-text.js',
  'curl.js',
  'dom.js',
  'endpoint-about.js',
  'endpoint-form.js',
  'endpoint-groups.js',
  'endpoint-list.js',
  'event-panel.js',
  'event-stream.js',
  'filter-form.js',
  'icons.js',
  'json-rows.js',
  'json-text.js',
  'page-header.js',
  'parameter-input.js',
  'path-view.js',
  'request.js',
  'request-history.js',
  'request-preview.js',
  'response-docs.js',
  'response-view.js',
  'row-grid.js',
  'schema-list.js',
  'select-form.js',
  'send.js',
  'session.js',
  'sidebar.js',
  'sign-in.js',
  'visible-text.js',
] as const;

const pageStyle = 'page.css';

/** The assets of the start page and the API docs page. */
export const pageAssets: ReadonlySet<string> = new Set([pageStyle, ...scriptModules]);
/** The assets of the sign-in page. */
export const signInAssets: ReadonlySet<string> = new Set(['sign-in-page.css', 'sign-in-page.js']);

const served = new Map<string, ServedDocument>();

/** Returns an asset of a page, which is read once; null for paths of none. */
export function findAsset(path: string, names: ReadonlySet<string>): ServedDocument | null {
  if (path === callerPath && names === pageAssets) return callerDocument;
  const name = path.startsWith(assetsPath) ? path.slice(assetsPath.length) : '';
  if (!names.has(name)) return null;
  const known = served.get(name);
  if (known !== undefined) return known;
  const isStyle = name.endsWith('.css');
  const document = {
    type: isStyle ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    content: readPackageFile(`${isStyle ? 'src/browser' : 'dist/browser'}/${name}`),
  };
  served.set(name, document);
  return document;
}
