import type { GatewayRequest } from './request.ts';
import type { GatewayResponse } from './response.ts';

/** Returns the entity tags of `If-Match` or `If-None-Match` (RFC 9110, section 8.8.3), with quotes, without `W/`. */
export function parseEntityTags(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? [];
}

/**
 * Whether the client has this representation already, by `If-None-Match` (RFC 9110, section 13.1.2): for GET and HEAD, by weak
 * comparison.
 */
export function isNotModified(request: GatewayRequest, { status, headers }: GatewayResponse): boolean {
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch === undefined || status !== 200 || (request.method !== 'GET' && request.method !== 'HEAD'))
    return false;
  const etagIndex = headers.findIndex((name, index) => index % 2 === 0 && name === 'etag');
  if (etagIndex < 0) return false;
  return (
    ifNoneMatch.trim() === '*' || parseEntityTags(ifNoneMatch).includes(headers[etagIndex + 1]!.replace(/^W\//, ''))
  );
}
