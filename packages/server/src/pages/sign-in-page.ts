/** The sign-in page: a button for each external provider, and a form for the login routine. */
import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@pgway/core';
import { parseReturnPath, presets } from '@pgway/external-sign-in/internal';
import { escapeHtml } from '@pgway/core/internal';
import { openApiOptions } from '@pgway/generators/internal';
import type { Configuration } from '../config/schema.ts';
import { type DocumentLookup, requestPath, type ServedDocument } from '../http/send-document.ts';
import { assetsPath, findAsset, signInAssets } from './page-assets.ts';
import { signInPagePath } from './sign-in-path.ts';

/** Nothing inline, nothing from elsewhere. The form is sent by the script. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Returns null when the page is not served. Endpoints at its path take precedence; below it, browsers get it with 404. */
export function createSignInPage(configuration: Configuration): DocumentLookup | null {
  const path = signInPagePath(configuration);
  if (path === null) return null;
  return (endpoints, request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null;
    const requested = requestPath(request);
    if (requested === path) return page(endpoints, request, configuration);
    if (requested.startsWith(`${path}/`) && /\btext\/html\b/i.test(request.headers.accept ?? ''))
      return { ...page(endpoints, request, configuration, unknownProvider), status: 404 };
    return findAsset(requested, signInAssets);
  };
}

const unknownProvider = '<p>There is no sign-in at this address. Choose one of these:</p>';

function page(
  endpoints: readonly Endpoint[],
  request: IncomingMessage,
  configuration: Configuration,
  ...notes: readonly string[]
): ServedDocument {
  const returnPath = returnPathOf(request, configuration);
  const login = configuration.cookie.enabled ? passwordLogin(endpoints) : null;
  const parts = [
    ...notes,
    providerList(configuration, returnPath),
    ...(login === null ? [] : ['<p class="or"><span>or</span></p>', passwordForm(login, returnPath)]),
    ...linkList(configuration),
  ];
  const title = pageTitle(configuration);
  const content = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetsPath}sign-in-page.css">
${login === null ? '' : `<script type="module" src="${assetsPath}sign-in-page.js"></script>\n`}</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${parts.join('\n')}
</main>
</body>
</html>
`;
  return { type: 'text/html; charset=utf-8', content, contentSecurityPolicy };
}

/** The title of the API is the name of the application. */
function pageTitle({ openApi }: Configuration): string {
  return openApi.title === openApiOptions.options.title.default ? 'Sign in' : `Sign in to ${openApi.title}`;
}

/** The links of the configuration, such as one for forgotten passwords. */
function linkList({ externalSignIn }: Configuration): readonly string[] {
  const items = Object.entries(externalSignIn.links).map(
    ([text, address]) => `<li><a href="${escapeHtml(address)}">${escapeHtml(text)}</a></li>`,
  );
  return items.length === 0 ? [] : [`<ul class="links">\n${items.join('\n')}\n</ul>`];
}

/** A value that is not a path of this site is dropped: a page must not lead elsewhere after the sign-in. */
function returnPathOf({ url = '' }: IncomingMessage, { externalSignIn }: Configuration): string {
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const text = new URLSearchParams(query).get('return_to');
  return (text === null ? null : parseReturnPath(text)) ?? externalSignIn.defaultReturnPath;
}

function providerList({ externalSignIn: { providers, path } }: Configuration, returnPath: string): string {
  const items = Object.entries(providers).map(([name, { label, preset }]) => {
    const address = `${path}/${encodeURIComponent(name)}?return_to=${encodeURIComponent(returnPath)}`;
    const text = label ?? labelOfPreset(preset ?? name) ?? name;
    return `<li><a class="button" href="${escapeHtml(address)}">Continue with ${escapeHtml(text)}</a></li>`;
  });
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

function labelOfPreset(name: string): string | undefined {
  return Object.entries(presets).find(([preset]) => preset === name)?.[1].label;
}

/** A login routine that takes a user and a password. */
interface PasswordLogin {
  readonly path: string;
  readonly userKey: string;
  readonly passwordKey: string;
}

/** Returns the first login routine that needs nothing but a user and a password in the body. */
function passwordLogin(endpoints: readonly Endpoint[]): PasswordLogin | null {
  for (const { loginOrLogout, method, path, parameters } of endpoints) {
    if (loginOrLogout?.kind !== 'login' || method !== 'POST') continue;
    const user = parameters.find(({ position }) => position === loginOrLogout.userParameter);
    const password = parameters.find(({ position }) => position === loginOrLogout.passwordParameter);
    const others = parameters.filter((parameter) => parameter !== user && parameter !== password);
    const isComplete = others.every(({ optional, injectedValue }) => optional || injectedValue !== undefined);
    const isInPath = parameters.some(({ inPath }) => inPath);
    if (user === undefined || password === undefined || !isComplete || isInPath) continue;
    return { path, userKey: user.key, passwordKey: password.key };
  }
  return null;
}

function passwordForm({ path, userKey, passwordKey }: PasswordLogin, returnPath: string): string {
  const data = Object.entries({ path, userKey, passwordKey, returnPath }).map(
    ([name, value]) => `data-${name.replaceAll(/[A-Z]/g, '-$&').toLowerCase()}="${escapeHtml(value)}"`,
  );
  const { label, type } = userField(userKey);
  return `<form id="password-form" ${data.join(' ')}>
<label for="user">${escapeHtml(label)}</label>
<input id="user" type="${type}" autocomplete="username" autocapitalize="none" spellcheck="false" required>
<label for="password">${escapeHtml(words(passwordKey))}</label>
<input id="password" type="password" autocomplete="current-password" required>
<p id="message" role="alert"></p>
<button type="submit">Sign in</button>
<noscript><p>A sign-in with a password needs JavaScript.</p></noscript>
</form>`;
}

/** The input of the user's name: an address where the routine has a parameter for one. Browsers save each form with passwords. */
function userField(key: string): { readonly label: string; readonly type: 'text' | 'email' | 'tel' } {
  const label = words(key).replace(/^E mail\b/, 'Email');
  if (/\be ?mail\b/i.test(label)) return { label, type: 'email' };
  if (/\b(?:phone|mobile)\b/i.test(label)) return { label, type: 'tel' };
  return { label: /^(?:user ?)?name$|^user$/i.test(label) ? 'User name' : label, type: 'text' };
}

/** Returns the name of a parameter as words: `Email address` for `emailAddress`. */
function words(key: string): string {
  const text = key
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase();
  return text.replace(/^./u, (letter) => letter.toUpperCase());
}
