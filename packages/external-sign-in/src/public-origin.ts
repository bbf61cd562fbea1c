import { Problem } from '@pgway/core';
import type { GatewayRequest } from '@pgway/core';
import { isLoopback } from './provider-settings.ts';

/**
 * Returns the origin that the provider redirects to. A client chooses the host of its request, and a proxy may forward any: without a
 * configured origin, only names of this machine count.
 * @throws Problem 421 for another host
 */
export function publicOriginOf(request: GatewayRequest, configured: string | null): string {
  if (configured !== null) return configured;
  const host = request.header('host') ?? '';
  const text = `${request.secure ? 'https' : 'http'}://${host}`;
  const url = /^[^/?#@\\\s,]+$/.test(host) && URL.canParse(text) ? new URL(text) : null;
  if (url !== null && isLoopback(url)) return url.origin;
  throw new Problem('unknown-origin', {
    detail:
      'Set the option publicOrigin of externalSignIn to the origin of the pages, such as https://app.example.org.',
  });
}

/** @throws TypeError for a text that is not an origin of https, or of http on this machine */
export function parsePublicOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url !== null && isSecure && url.href === `${url.origin}/` && !url.host.includes('*')) return url.origin;
  throw new TypeError(
    `publicOrigin: ${JSON.stringify(text)} is not an origin; give https and the host, as in https://app.example.org`,
  );
}
