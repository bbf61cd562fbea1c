/** The sign-in page: a button for each external provider, and a form for the login routine. */
import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '@pgway/core';
import { parseReturnPath, presets } from '@pgway/external-sign-in/internal';
import { escapeHtml } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { type DocumentLookup, requestPath, type ServedDocument } from '../http/send-document.ts';
import { readPackageFile } from '../package-files.ts';

const assetsPath = '/_pgway/';
const scriptName = 'sign-in-page.js';
const styleName = 'sign-in-page.css';

/** Nothing inline, nothing from elsewhere. The form is sent by the script. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** The path of the page; null: there is none. */
export function signInPagePath({ externalSignIn }: Configuration): string | null {
  const { providers, path } = externalSignIn;
  return Object.keys(providers).length > 0 ? path : null;
}

/** Returns null when the page is not served. Endpoints at its path take precedence. */
export function createSignInPage(configuration: Configuration): DocumentLookup | null {
  const path = signInPagePath(configuration);
  if (path === null) return null;
  return (endpoints, request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null;
    const requested = requestPath(request);
    if (requested === path) return page(endpoints, request, configuration);
    return requested.startsWith(assetsPath) ? asset(requested.slice(assetsPath.length)) : null;
  };
}

const assets = new Map<string, ServedDocument>();

/** Reads an asset once. */
function asset(name: string): ServedDocument | null {
  const known = assets.get(name);
  if (known !== undefined) return known;
  if (name !== scriptName && name !== styleName) return null;
  const isStyle = name === styleName;
  const type = isStyle ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
  const document = { type, content: readPackageFile(`${isStyle ? 'src/browser' : 'dist/browser'}/${name}`) };
  assets.set(name, document);
  return document;
}

function page(endpoints: readonly Endpoint[], request: IncomingMessage, configuration: Configuration): ServedDocument {
  const returnPath = returnPathOf(request, configuration);
  const login = configuration.cookie.enabled ? passwordLogin(endpoints) : null;
  const parts = [
    providerList(configuration, returnPath),
    ...(login === null ? [] : ['<p class="or">or</p>', passwordForm(login, returnPath)]),
  ];
  const content = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetsPath}${styleName}">
${login === null ? '' : `<script type="module" src="${assetsPath}${scriptName}"></script>\n`}</head>
<body>
<main>
<h1>Sign in</h1>
${parts.join('\n')}
</main>
</body>
</html>
`;
  return { type: 'text/html; charset=utf-8', content, contentSecurityPolicy };
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
  return `<form id="password-form" ${data.join(' ')}>
<label for="user">User name</label>
<input id="user" autocomplete="username" autocapitalize="none" spellcheck="false" required>
<label for="password">Password</label>
<input id="password" type="password" autocomplete="current-password" required>
<p id="message" role="alert"></p>
<button type="submit">Sign in</button>
<noscript><p>A sign-in with a password needs JavaScript.</p></noscript>
</form>`;
}
