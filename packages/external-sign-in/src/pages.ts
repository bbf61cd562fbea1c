import { escapeHtml } from '@pgway/core/internal';
import type { WholeResponse } from '@pgway/core';
import type { GatewayRequest, HeaderList } from '@pgway/core';
import { createHash } from 'node:crypto';

/** The colors of the sign-in page of the server. */
const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; color: light-dark(#182026, #e6e9ec);
  background: light-dark(#f6f8f9, #111417); }
* { box-sizing: border-box; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 1rem; }
main { width: min(24rem, 100%); padding: 1.75rem; border: 1px solid light-dark(#dde3e7, #2c343b); border-radius: .8rem;
  background: light-dark(#ffffff, #191d21); }
h1 { margin: 0 0 1.25rem; font-size: 1.25rem; line-height: 1.35; text-wrap: balance; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
form, p:last-child { margin: 0; }
button, .button { display: block; width: 100%; min-height: 2.75rem; padding: .55rem .8rem; border: 0; border-radius: .45rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: light-dark(#ffffff, #0b2522); background: light-dark(#0f5f58, #5fc7bb); }
:focus-visible { outline: 2px solid light-dark(#0f5f58, #5fc7bb); outline-offset: 2px; }
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
