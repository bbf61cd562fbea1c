/** Refuses requests for host names that are not the server's own. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback, isLoopbackName } from './address.ts';

/** Whether the request may go on; if not, it has its answer. */
export type HostCheck = (request: IncomingMessage, response: ServerResponse) => boolean;

const everyHost: HostCheck = () => true;

/** `Host` values that are not read again: more of them are no browser's and no proxy's. */
const mostKnown = 100;
const longestShown = 200;

/**
 * A page of any site can give its own name a loopback address (DNS rebinding); the browser then takes this server for that site, and
 * lets the page read and write here. The name that the browser asks for is in `Host`, so only known names are answered.
 *
 * @param address that the server listens on
 * @param allowedHosts names without ports; with none of them, an address that is not a loopback one accepts every name
 */
export function hostCheck(address: string, allowedHosts: readonly string[]): HostCheck {
  if (!isLoopback(address) && allowedHosts.length === 0) return everyHost;
  const allowed = new Set(allowedHosts.map((name) => nameOf(name)));
  const known = new Set<string>();
  const accepts = (host: string): boolean => {
    const name = nameOf(host);
    if (name === null || !(isLoopbackName(name) || allowed.has(name))) return false;
    if (known.size < mostKnown) known.add(host);
    return true;
  };
  return (request, response) => {
    const { host = '' } = request.headers;
    if (known.has(host) || accepts(host)) return true;
    refuse(response, host);
    return false;
  };
}

/** The name in a `Host` value, in the form in which names are compared; null where there is none. */
function nameOf(host: string): string | null {
  const url = `http://${host}`;
  if (!/^[^/?#@\\\s,]+$/.test(host) || !URL.canParse(url)) return null;
  return new URL(url).hostname.replace(/\.$/, '');
}

function refuse(response: ServerResponse, host: string): void {
  const shown = JSON.stringify(host.slice(0, longestShown));
  const body = JSON.stringify({
    type: 'urn:pgway:problem:unknown-host',
    title: 'This server does not answer requests for that host',
    status: 421,
    detail: `The request is for the host ${shown}. If that is this server, add the name to allowedHosts: --allowed-hosts=<name>.`,
  });
  response.writeHead(421, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(body);
}
