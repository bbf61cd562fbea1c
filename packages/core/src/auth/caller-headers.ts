import type { GatewayResponse, HeaderList } from '../http/response.ts';
import type { Caller } from '../ports/ports.ts';

/**
 * Adds the headers of a response to an authenticated caller: `Cache-Control: private` (RFC 9111, 5.2.2.7) unless the response has a
 * `Cache-Control`, and the refreshed credentials. These override the author's `Cache-Control`: a cache would give them to others.
 */
export function withCallerHeaders(response: GatewayResponse, caller: Caller | null): GatewayResponse {
  if (caller === null) return response;
  const { headers } = response;
  if (caller.headers !== undefined) {
    return { ...response, headers: [...withoutCacheControl(headers), ...caller.headers, 'cache-control', 'no-store'] };
  }
  return asPrivate(response);
}

/** Adds `Cache-Control: private` unless the response has a `Cache-Control`. */
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
