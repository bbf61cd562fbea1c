import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { Caller } from '../ports/ports.ts';

/**
 * Adds what an answer to a signed-in caller needs: `Cache-Control: private` (RFC 9111, 5.2.2.7) unless the answer has a
 * `Cache-Control` of its own, and the headers with which the caller's scheme renews its credentials. No cache may keep renewed
 * credentials, whatever the author says of caches: they would sign others in.
 */
export function withCallerHeaders(response: GatewayResponse, caller: Caller | null): GatewayResponse {
  if (caller === null) return response;
  const { headers } = response;
  if (caller.headers !== undefined) {
    return { ...response, headers: [...withoutCacheControl(headers), ...caller.headers, 'cache-control', 'no-store'] };
  }
  return asPrivate(response);
}

/** Keeps the answer out of shared caches, unless it has a `Cache-Control` of its own. */
export function asPrivate(response: GatewayResponse): GatewayResponse {
  const { headers } = response;
  return hasCacheControl(headers) ? response : { ...response, headers: [...headers, 'cache-control', 'private'] };
}

function hasCacheControl(headers: HeaderList): boolean {
  for (let index = 0; index < headers.length; index += 2) if (headers[index] === 'cache-control') return true;
  return false;
}

function withoutCacheControl(headers: HeaderList): HeaderList {
  return headers.filter((_, index) => headers[index - (index % 2)] !== 'cache-control');
}
