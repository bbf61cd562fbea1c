/** Protection against DNS rebinding, which the protocol demands of servers (Model Context Protocol, "Streamable HTTP", security warning). */
import { type GatewayRequest, Problem } from '@pgway/core';
import { authenticationOptions } from '../authentication-options.ts';
import type { Configuration } from '../config/schema.ts';
import { isLoopbackHost } from '../address.ts';

/**
 * Returns the check of the header `Origin`. Where the server answers to any host name, a page whose site has resolved its name to this
 * server has the origin of the requested host: only origins in the configuration are known then.
 */
export function originCheck(configuration: Configuration): (request: GatewayRequest) => void {
  const { host, allowedHosts, mcp } = configuration;
  // The HTTP server refuses unknown host names.
  if (isLoopbackHost(host) || allowedHosts.length > 0) return () => undefined;
  const { allowedOrigins = [] } = authenticationOptions(configuration);
  const known = [...allowedOrigins, ...(mcp.resource === null ? [] : [mcp.resource])];
  const origins = new Set(known.map((url) => new URL(url).origin));
  return (request) => {
    const origin = request.header('origin');
    if (origin === undefined || (URL.canParse(origin) && origins.has(new URL(origin).origin))) return;
    throw new Problem('cross-site-request', {
      detail:
        'The origin of the page is not known. Add it to authentication.allowedOrigins, or the names of this server to allowedHosts.',
    });
  };
}
