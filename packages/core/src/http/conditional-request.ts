import type { GatewayRequest } from './request.ts';
import type { GatewayResponse } from './response.ts';

/** Returns the entity tags of `If-Match` or `If-None-Match` (RFC 9110, section 8.8.3), with quotes, without `W/`. */
export function parseEntityTags(list: string): readonly string[] {
  return list.match(/"[^"]*"/g) ?? [];
}

/** The methods whose responses are representations that a client may have already. */
export const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);

/**
 * Whether the client has this representation already, by `If-None-Match` (RFC 9110, section 13.1.2): for methods that read, by weak
 * comparison.
 */
export function isNotModified(request: GatewayRequest, { status, headers }: GatewayResponse): boolean {
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch === undefined || status !== 200 || !readingMethods.has(request.method)) return false;
  const etagIndex = headers.findIndex((name, index) => index % 2 === 0 && name === 'etag');
  if (etagIndex < 0) return false;
  return (
    ifNoneMatch.trim() === '*' || parseEntityTags(ifNoneMatch).includes(headers[etagIndex + 1]!.replace(/^W\//, ''))
  );
}
