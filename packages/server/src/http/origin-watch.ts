import type { IncomingMessage } from 'node:http';
import type { Configuration } from '../config/schema.ts';
import { isProxied } from './local-request.ts';

/** How many origins are reported in an hour: any client can send any. */
const maxOrigins = 20;
/** Milliseconds until an origin is reported again. */
const expiryMs = 3_600_000;

/**
 * Warns of origins whose pages call the server without `cors.origins` listing them: the browser hides the response from the page, and only
 * its console says so. Each origin is reported once an hour. Requests through proxies are left out, as they may have another `Host`.
 */
export function createOriginWatch(
  { cors }: Pick<Configuration, 'cors'>,
  warn: (message: string) => void,
  now: () => number = Date.now,
): (request: Pick<IncomingMessage, 'headers'>) => void {
  const reported = new Map<string, number>();
  const isKnown = (origin: string): boolean => reported.has(origin) || reported.size >= maxOrigins;
  const isListed = (origin: string): boolean => cors.origins.includes('*') || cors.origins.includes(origin);
  return ({ headers }) => {
    const { origin } = headers;
    if (origin === undefined || isListed(origin) || !isHidden(headers) || !isOfOther(origin, headers)) return;
    if (isKnown(origin)) removeExpired(reported, now());
    if (isKnown(origin)) return;
    reported.set(origin, now());
    warn(
      origin === 'null'
        ? 'a page of the origin null, as one that was opened from a file or runs in a sandboxed frame, calls this server, and the browser hides the responses from it; if the page is yours, serve it, as with staticFiles.root'
        : `a page of ${origin} calls this server, and the browser hides the responses from it; if the page is yours, add the origin to cors.origins`,
    );
  };
}

function removeExpired(reported: Map<string, number>, now: number): void {
  for (const [origin, at] of reported) if (at + expiryMs <= now) reported.delete(origin);
}

/** Whether the value is an origin, and not that of the server, as far as `Host` tells it. */
function isOfOther(origin: string, headers: IncomingMessage['headers']): boolean {
  if (origin === 'null') return !isProxied(headers);
  const [, host] = /^https?:\/\/([\w.[\]:-]{1,255})$/.exec(origin) ?? [];
  return host !== undefined && host !== headers.host && !isProxied(headers);
}

/**
 * Whether a browser would hide the response from the page that has sent the request. Navigations, such as submitted forms, are shown; with
 * `Referrer-Policy: no-referrer`, their `Origin` is `null`. Without TLS, browsers mark them by `Upgrade-Insecure-Requests` alone.
 */
function isHidden(headers: IncomingMessage['headers']): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode = 'cors' } = headers;
  const isOwn = site === 'same-origin' || site === 'none';
  return !isOwn && mode === 'cors' && headers['upgrade-insecure-requests'] === undefined;
}
