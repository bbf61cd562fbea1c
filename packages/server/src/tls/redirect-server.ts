/** The HTTP server of `tls.redirectPort`: redirects requests to HTTPS. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Configuration } from '../config/schema.ts';
import { answerClientErrors } from '../http/client-error.ts';
import { limitConnections } from '../http/connection-limits.ts';
import { Connections } from '../http/connections.ts';
import { hostCheck, parseHost, sendMisdirected, tenantHostCheck } from '../http/host-check.ts';
import { closeListener, closeServer, type HttpServer, httpOptions, type ListenOptions } from '../http/http-server.ts';
import { listenHere } from '../http/listener.ts';
import { isNameOf } from './certificate.ts';
import type { CertificateStore } from './certificate-store.ts';

export interface RedirectOptions extends Pick<ListenOptions, 'onRequest' | 'listenOn'> {
  /** The port of the HTTPS server. */
  readonly targetPort: number;
}

/** Returns whether the host, a name or an address, is one of this server. */
type KnownHost = (host: string) => boolean;

/**
 * Starts the server.
 * @throws ListenError
 */
export async function listenForRedirects(
  configuration: Configuration,
  store: CertificateStore,
  { targetPort, onRequest, listenOn = listenHere }: RedirectOptions,
): Promise<HttpServer> {
  const { host, limits, allowedHosts, tls } = configuration;
  let isKnown: KnownHost = () => false;
  const server = createServer(httpOptions(limits), (request, response) => {
    onRequest?.(request, response);
    redirect(request, response, { isKnown, port: tls.redirectTargetPort ?? targetPort });
  });
  const connections = new Connections(limits);
  server.on('connection', (socket) => connections.add(socket));
  server.closeIdleConnections = () => connections.closeIdle();
  const admission = limitConnections(server, configuration, false);
  answerClientErrors(server, () => []);
  const listener = await listenOn(server, { host, port: tls.redirectPort!, setting: 'tls.redirectPort' });
  const isTenantHost = tenantHostCheck(configuration.tenant);
  const isAllowed = hostCheck(listener.address, allowedHosts, isTenantHost);
  // Without `allowedHosts`, a redirect could lead to any host: those of the certificate are known.
  isKnown = (name) =>
    isTenantHost(name) || (isAllowed(name) && (allowedHosts.length > 0 || isNameOf(store.current, name)));
  return {
    port: listener.port,
    stop: (graceMs, force) => {
      admission.closeRefused();
      return closeServer({ server, listener }, graceMs, force);
    },
    retire: (limitMs) => closeListener(listener, limitMs),
  };
}

interface RedirectTarget {
  readonly isKnown: KnownHost;
  readonly port: number;
}

function redirect(request: IncomingMessage, response: ServerResponse, { isKnown, port }: RedirectTarget): void {
  const { host = '' } = request.headers;
  const name = parseHost(host);
  if (name === null || !isKnown(name)) return sendMisdirected(response, host);
  const target = originForm(request.url ?? '/');
  response.writeHead(target === null ? 400 : 308, {
    ...(target === null ? {} : { location: `https://${name}${port === 443 ? '' : `:${port}`}${target}` }),
    'content-length': 0,
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end();
}

/** Returns path and query; null for a target without them, such as `*`. */
function originForm(url: string): string | null {
  if (url.startsWith('/')) return url;
  const absolute = /^https?:\/\/[^/?#]*(\/?[^#]*)$/i.exec(url);
  if (absolute === null) return null;
  const target = absolute[1]!;
  return target.startsWith('/') ? target : `/${target}`;
}
