import { canonicalAddress, createOriginReader, type OriginReader, trustedAddresses } from '../adapters/forwarded.ts';
import type { GatewayRequest } from '../http/request.ts';
import { OptionsError } from './start-error.ts';

/** Returns the request with the client's address and scheme in place of the proxy's. */
export type ResolveClientOrigin = (request: GatewayRequest) => GatewayRequest;

/**
 * Resolves the client behind trusted proxies.
 * @throws StartError for an entry that is not an address, a CIDR block or `loopback`
 */
export function clientOriginResolver(trustedProxies: readonly string[]): ResolveClientOrigin {
  if (trustedProxies.length === 0) return (request) => request;
  const readOrigin = originReader(trustedProxies);
  const isTrusted = trustedAddresses(trustedProxies);
  return (request) => withOrigin(request, readOrigin, isTrusted);
}

function originReader(trustedProxies: readonly string[]): OriginReader {
  try {
    return createOriginReader(trustedProxies);
  } catch (error) {
    throw new OptionsError(`trustedProxies: ${(error as Error).message}`, { cause: error });
  }
}

function withOrigin(
  request: GatewayRequest,
  readOrigin: OriginReader,
  isTrusted: (address: string) => boolean,
): GatewayRequest {
  const { address, secure } = readOrigin(request);
  return {
    get id() {
      return request.id;
    },
    ...(request.raw === undefined ? {} : { raw: request.raw }),
    method: request.method,
    path: request.path,
    query: request.query,
    connection: connectionOfClient(request, isTrusted),
    remoteAddress: address ?? undefined,
    secure,
    header: (name) => request.header(name),
    headers: () => request.headers(),
    body: (limit) => request.body(limit),
    chunks: () => request.chunks(),
    onDisconnect: (listener) => request.onDisconnect(listener),
    ...(request.onEvent === undefined ? {} : { onEvent: request.onEvent }),
  };
}

/** Returns the connection unless it may be that of a proxy: a trusted one, or one without an address. */
function connectionOfClient(
  { connection, remoteAddress }: GatewayRequest,
  isTrusted: (address: string) => boolean,
): object | undefined {
  if (connection === undefined) return undefined;
  const peer = canonicalAddress(remoteAddress);
  return peer === null || isTrusted(peer) ? undefined : connection;
}
