import { createOriginReader, type OriginReader } from '../adapters/forwarded.ts';
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
  return (request) => withOrigin(request, readOrigin);
}

function originReader(trustedProxies: readonly string[]): OriginReader {
  try {
    return createOriginReader(trustedProxies);
  } catch (error) {
    throw new OptionsError(`trustedProxies: ${(error as Error).message}`, { cause: error });
  }
}

function withOrigin(request: GatewayRequest, readOrigin: OriginReader): GatewayRequest {
  const { address, secure } = readOrigin(request);
  return {
    get id() {
      return request.id;
    },
    ...(request.raw === undefined ? {} : { raw: request.raw }),
    method: request.method,
    path: request.path,
    query: request.query,
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
