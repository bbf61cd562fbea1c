/** Protection against DNS rebinding: requests for unknown host names are answered 421. */
import type { ServerResponse } from 'node:http';
import { compileHostPattern } from '@pgway/core/internal';
import type { Configuration } from '../config/schema.ts';
import { isLoopbackAddress, isLoopbackHost } from '../address.ts';

/** Returns whether the value of `Host` is allowed. */
export type HostCheck = (host: string) => boolean;

const allowEveryHost: HostCheck = () => true;

/** Bounds of the cache of accepted `Host` values, and of the quoted value in characters. */
const maxCachedHosts = 100;
const maxQuotedLength = 200;

/**
 * Creates the check. A site can resolve its own name to a loopback address (DNS rebinding); the browser then treats this server as
 * that site. `Host` holds the name that the browser requested.
 *
 * @param address the address that the server listens on
 * @param allowedHosts names without ports; an empty list allows every name unless `address` is a loopback address
 * @param isTenantHost whether a name is that of a tenant, which is allowed
 */
export function hostCheck(
  address: string,
  allowedHosts: readonly string[],
  isTenantHost: HostCheck = () => false,
): HostCheck {
  if (!isLoopbackAddress(address) && allowedHosts.length === 0) return allowEveryHost;
  const allowed = new Set(allowedHosts.map((name) => parseHost(name)));
  const cached = new Set<string>();
  const accepts = (host: string): boolean => {
    const name = parseHost(host);
    if (name === null || !(isLoopbackHost(name) || allowed.has(name) || isTenantHost(name))) return false;
    if (cached.size < maxCachedHosts) cached.add(host);
    return true;
  };
  return (host) => cached.has(host) || accepts(host);
}

/** Returns whether a host name is one of tenants. @throws RangeError for an invalid pattern */
export function tenantHostCheck({ by, host }: Configuration['tenant']): HostCheck {
  if (by !== 'host' || host === null) return () => false;
  const match = compileHostPattern(host);
  return (name) => match(name) !== null;
}

/** Whether a `Host` value names this machine by a loopback name or address. */
export function hasLoopbackHost(host: string): boolean {
  const name = parseHost(host);
  return name !== null && isLoopbackHost(name);
}

/** Returns the normalized name of a `Host` value; null for an invalid value. */
export function parseHost(host: string): string | null {
  const url = `http://${host}`;
  if (!/^[^/?#@\\\s,]+$/.test(host) || !URL.canParse(url)) return null;
  return new URL(url).hostname.replace(/\.$/, '');
}

/** Sends the 421 response. */
export function sendMisdirected(response: ServerResponse, host: string): void {
  const quoted = JSON.stringify(host.slice(0, maxQuotedLength));
  const body = JSON.stringify({
    type: 'urn:pgway:problem:unknown-host',
    title: 'This server does not serve the requested host',
    status: 421,
    detail: `The request names the host ${quoted}. If it is a name of this server, add it to allowedHosts: --allowed-hosts=<name>.`,
  });
  response.writeHead(421, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(body);
}
