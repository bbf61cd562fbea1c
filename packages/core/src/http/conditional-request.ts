import type { GatewayRequest } from './request.ts';
import type { GatewayResponse } from './response.ts';

/** The tags of an `If-Match` or `If-None-Match` list (RFC 9110, 8.8.3), quotes included, without the mark of weak ones. */
export function parseEntityTags(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? [];
}

/**
 * Whether the client holds this answer already, by `If-None-Match` (RFC 9110, 13.1.2): for GET and HEAD, compared weakly, `*`
 * for any.
 */
export function isNotModified(request: GatewayRequest, { status, headers }: GatewayResponse): boolean {
  const known = request.header('if-none-match');
  if (known === undefined || status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  const at = headers.findIndex((name, index) => index % 2 === 0 && name === 'etag');
  if (at < 0) return false;
  return known.trim() === '*' || parseEntityTags(known).includes(headers[at + 1]!.replace(/^W\//, ''));
}
