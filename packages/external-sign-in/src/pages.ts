import { escapeHtml } from '@pgway/core/internal';
import type { WholeResponse } from '@pgway/core';
import type { GatewayRequest, HeaderList } from '@pgway/core';
import { createHash } from 'node:crypto';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 26rem; margin: 15vh auto 0; padding: 1rem; }
h1 { font-size: 1.4rem; }
p { overflow-wrap: anywhere; }
button, .button { font: inherit; display: inline-block; padding: .5rem 1.2rem; border: 1px solid; border-radius: .4rem;
  background: none; color: inherit; cursor: pointer; text-decoration: none; }
small { opacity: .75; }
`;

/** Nothing but the style: no script, no network. Forms go to this host only, and no other site can frame the page. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const pageHeaders: HeaderList = [
  'content-type',
  'text/html; charset=utf-8',
  'content-security-policy',
  policy,
  'referrer-policy',
  'no-referrer',
  'cache-control',
  'no-store',
];

interface Page {
  readonly status: number;
  readonly title: string;
  readonly paragraphs?: readonly string[];
  /** The address that a button of the page requests, by POST or as a link. */
  readonly action?: { readonly method: 'POST' | 'GET'; readonly url: string; readonly label: string };
  /** The address that the browser continues to at once. */
  readonly continueTo?: string;
  readonly headers?: HeaderList;
}

/** Returns a page that needs no script. Its URL may have a code: it is not sent as a referrer, and not stored. */
export function pageResponse({
  status,
  title,
  paragraphs = [],
  action,
  continueTo,
  headers = [],
}: Page): WholeResponse {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${continueTo === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${escapeHtml(continueTo)}">\n`}<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${paragraphs.map((text) => `<p>${escapeHtml(text)}</p>\n`).join('')}${action === undefined ? '' : actionHtml(action)}</main>
</body>
</html>
`;
  return {
    kind: 'whole',
    status,
    headers: [...pageHeaders, ...headers],
    body,
  };
}

/** The button of a form has no focus: a key pressed on the page before must not answer a question. */
function actionHtml({ method, url, label }: NonNullable<Page['action']>): string {
  const [address, text] = [escapeHtml(url), escapeHtml(label)];
  return method === 'GET'
    ? `<p><a class="button" href="${address}" autofocus>${text}</a></p>\n`
    : `<form method="post" action="${address}"><button>${text}</button></form>\n`;
}

/** Whether the client is a browser that shows the response as a page. */
export function wantsPage(request: GatewayRequest): boolean {
  return /\btext\/html\b/i.test(request.header('accept') ?? '');
}
