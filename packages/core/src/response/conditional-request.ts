import { entityTags } from '../http/entity-tag.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse } from '../http/response.ts';

/**
 * Whether the client holds this answer already, by `If-None-Match` (RFC 9110, 13.1.2): for GET and HEAD, compared weakly, `*`
 * for any.
 */
export function unchanged(request: GatewayRequest, { status, headers }: GatewayResponse): boolean {
  const known = request.header('if-none-match');
  if (known === undefined || status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  const at = headers.findIndex((name, index) => index % 2 === 0 && name === 'etag');
  if (at < 0) return false;
  return known.trim() === '*' || entityTags(known).includes(headers[at + 1]!.replace(/^W\//, ''));
}
