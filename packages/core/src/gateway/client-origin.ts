import { createOriginReader, type OriginReader } from '../adapters/forwarded.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { Handle } from '../http/response.ts';
import { StartError } from './start-error.ts';

/**
 * Lets everybody behind it see the client as the trusted proxies tell of it: its address and whether its connection is encrypted.
 * @throws StartError for what is no address
 */
export function withClientOrigin(handle: Handle, trustedProxies: readonly string[]): Handle {
  if (trustedProxies.length === 0) return handle;
  const originOf = readerOf(trustedProxies);
  return (request) => handle(seenAs(request, originOf));
}

function readerOf(trustedProxies: readonly string[]): OriginReader {
  try {
    return createOriginReader(trustedProxies);
  } catch (error) {
    throw new StartError(`trustedProxies: ${(error as Error).message}`, { cause: error });
  }
}

function seenAs(request: GatewayRequest, originOf: OriginReader): GatewayRequest {
  const { address, secure } = originOf(request);
  return {
    get id() {
      return request.id;
    },
    method: request.method,
    path: request.path,
    query: request.query,
    remoteAddress: address ?? undefined,
    secure,
    header: (name) => request.header(name),
    headers: () => request.headers(),
    body: (limit) => request.body(limit),
    onDisconnect: (listener) => request.onDisconnect(listener),
  };
}
