import type { Configuration } from '../config/schema.ts';
import { type Handler, type HttpServer, listen, type ListenOptions } from '../http/http-server.ts';
import type { CertificateStore } from './certificate-store.ts';
import { listenForRedirects } from './redirect-server.ts';

interface ListenWithTlsOptions extends Omit<ListenOptions, 'tls'> {
  /** Null: HTTP without TLS. */
  readonly certificates: CertificateStore | null;
}

/**
 * Starts the HTTP server; with certificates, as an HTTPS server, beside which `tls.redirectPort` redirects to it.
 * @throws ListenError
 */
export async function listenWithTls(
  configuration: Configuration,
  handler: Handler,
  { certificates, ...options }: ListenWithTlsOptions,
): Promise<ServersWithRedirect> {
  if (certificates === null) return { ...(await listen(configuration, handler, options)), redirectPort: null };
  const server = await listen(configuration, handler, {
    ...options,
    tls: {
      certificate: certificates.current,
      http2: configuration.tls.http2,
      watch: (renewed) => certificates.watch(renewed),
    },
  });
  if (configuration.tls.redirectPort === null) return { ...server, redirectPort: null };
  try {
    const redirects = await listenForRedirects(configuration, certificates, {
      targetPort: server.port,
      onRequest: options.onRequest,
      listenOn: options.listenOn,
    });
    return {
      port: server.port,
      redirectPort: redirects.port,
      stop: async (graceMs, force) => {
        await Promise.all([server.stop(graceMs, force), redirects.stop(graceMs, force)]);
      },
      retire: async (limitMs) => {
        await Promise.all([server.retire(limitMs), redirects.retire(limitMs)]);
      },
    };
  } catch (error) {
    await server.stop(0, AbortSignal.abort());
    throw error;
  }
}

export interface ServersWithRedirect extends HttpServer {
  /** The port that redirects to HTTPS, or null. */
  readonly redirectPort: number | null;
}
