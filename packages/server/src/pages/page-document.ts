import { escapeHtml } from '@pgway/core/internal';
import type { ServedDocument } from '../http/send-document.ts';
import { assetsPath, scriptModules } from './page-assets.ts';

/** Nothing inline, nothing from elsewhere, and no way from a string to script. Responses are shown as text, or as an image. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23115e59'/%3E%3Cpath d='M4 5l3 3-3 3M8 11h4' stroke='white' stroke-width='1.6' fill='none' stroke-linecap='round'/%3E%3C/svg%3E";

/** What a page shows before its script runs. */
export interface PageShell {
  readonly title: string;
  /** The path of the data that the script reads. */
  readonly dataPath: string;
  /** What a browser without scripts shows, as HTML. */
  readonly withoutScripts: string;
}

/** Returns the HTML of the start page or the API docs page. */
export function pageDocument({ title, dataPath, withoutScripts }: PageShell): ServedDocument {
  const preloads = scriptModules.map((name) => `<link rel="modulepreload" href="${assetsPath}${name}">`);
  const content = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${assetsPath}page.css">
<link rel="preload" href="${escapeHtml(dataPath)}" as="fetch" crossorigin id="data">
${preloads.join('\n')}
<script type="module" src="${assetsPath}${scriptModules[0]}"></script>
</head>
<body>
<noscript><p>${withoutScripts}</p></noscript>
</body>
</html>
`;
  return { type: 'text/html; charset=utf-8', content, contentSecurityPolicy };
}
