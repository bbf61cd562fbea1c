import { escapeHtml } from '@pgway/core/internal';

/** The folder of the page's script, style and data. */
export const assetsPath = '/_pgway/';
export const dataPath: string = `${assetsPath}endpoints.json`;

/** The modules of the script, in `browser/`. The first one imports the others. */
export const scriptModules = [
  'start-page.js',
  'curl.js',
  'dom.js',
  'endpoint-about.js',
  'endpoint-form.js',
  'endpoint-list.js',
  'event-panel.js',
  'event-stream.js',
  'json-rows.js',
  'json-text.js',
  'parameter-input.js',
  'request.js',
  'response-view.js',
  'row-grid.js',
  'send.js',
  'session.js',
  'sign-in.js',
  'visible-text.js',
] as const;

/** The paths of all files of the page. */
export const startPageFiles: readonly string[] = [
  dataPath,
  ...['start-page.css', ...scriptModules].map((name) => `${assetsPath}${name}`),
];

/** Nothing inline, nothing from elsewhere, and no way from a string to script. Responses are shown as text, or as an image. */
export const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23115e59'/%3E%3Cpath d='M4 5l3 3-3 3M8 11h4' stroke='white' stroke-width='1.6' fill='none' stroke-linecap='round'/%3E%3C/svg%3E";

export function pageHtml(title: string): string {
  const preloads = scriptModules.map((name) => `<link rel="modulepreload" href="${assetsPath}${name}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${assetsPath}start-page.css">
<link rel="preload" href="${dataPath}" as="fetch" crossorigin>
${preloads.join('\n')}
<script type="module" src="${assetsPath}${scriptModules[0]}"></script>
</head>
<body>
<noscript><p>This page needs JavaScript. The option <code>openApi.docsPath</code> serves a list of the endpoints without it.</p></noscript>
</body>
</html>
`;
}
