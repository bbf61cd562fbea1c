import type { GatewayResponse, HeaderList } from '../../http/response.ts';
import type { Caller } from '../ports.ts';

/**
 * The answer, with what its caller's scheme renews along with it. Whatever the author says of caches, none may keep such an answer:
 * it would sign others in.
 */
export function renewing(response: GatewayResponse, caller: Caller | null): GatewayResponse {
  if (caller?.headers === undefined) return response;
  const headers = [...withoutCaching(response.headers), ...caller.headers, 'cache-control', 'no-store'];
  return { ...response, headers };
}

function withoutCaching(headers: HeaderList): HeaderList {
  return headers.filter((_, index) => headers[index - (index % 2)]!.toLowerCase() !== 'cache-control');
}
