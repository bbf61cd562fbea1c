import { createHash } from 'node:crypto';
import { queryMethod } from '../../http/methods.ts';
import { readingMethods } from '../../http/conditional-request.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { CacheHeaders, CallResult } from '../execution.ts';
import type { SizeLimit } from '../../response/response-writer.ts';
import type { CachedResponse } from '../../ports/ports.ts';
import type { CompiledCachePolicy } from './cache-key.ts';

/** Returns the response to store; null for streams, for responses past the limit, and for those that set cookies. */
export function toCachedResponse(result: CallResult, limit: SizeLimit): CachedResponse | null {
  if (result.kind !== 'whole' || result.rows > limit.rows || result.body.length > limit.bytes) return null;
  const headers = result.headerRow?.headers ?? [];
  if (headers.some((name, index) => index % 2 === 0 && name === 'set-cookie')) return null;
  // Copies the body: a slice would retain the whole parent buffer.
  const body = Buffer.allocUnsafeSlow(result.body.length);
  body.set(result.body);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, rows: result.rows, headers, etag, storedAt: Date.now() };
}

export interface ReuseContext {
  readonly cachePolicy: CompiledCachePolicy;
  readonly request: GatewayRequest;
  /** Whether shared caches may store the response (RFC 9111, section 5.2.2.9). */
  readonly isPublic: boolean;
  /** Whether the response was cached before this request. */
  readonly isHit: boolean;
  /** Whether the response carries refreshed credentials of its caller. */
  readonly refreshesCredentials: boolean;
}

/** Returns a cached response as the result of a call. */
export function toCallResult(response: CachedResponse, context: ReuseContext): CallResult {
  const { body, rows, headers } = response;
  return {
    kind: 'whole',
    body: body as Buffer,
    rows,
    headerRow: headers.length === 0 ? null : { headers, values: [] },
    settingsRow: null,
    cacheHeaders: buildCacheHeaders(response, context),
  };
}

/** The browser asks the gateway every time: its next user, or the same one without a role, must not see the response. */
const privateCacheControl = 'private, no-cache';

function publicCacheControl({ expires, tables }: CompiledCachePolicy, age: number): string {
  // Without an expiry, or with tables, an invalidation can come at any time: caches have to revalidate.
  if (expires === null || tables.length > 0) return 'public, no-cache';
  return `public, max-age=${Math.floor(Math.max(0, expires - age) / 1_000)}`;
}

/** Headers for the client's and shared caches (RFC 9111). Headers of the comment win over them. */
function buildCacheHeaders(
  { etag, headers, storedAt }: CachedResponse,
  { cachePolicy, request, isPublic, isHit, refreshesCredentials }: ReuseContext,
): CacheHeaders {
  if (refreshesCredentials) return { headers: ['cache-control', 'no-store'], validates: false };
  const { authorHeaders, readsBody } = cachePolicy;
  const age = Math.max(0, Date.now() - storedAt);
  const list = isHit ? ['age', String(Math.floor(age / 1_000))] : [];
  // A response to another method is not a representation that a later GET could be compared with.
  if (!readingMethods.has(request.method)) return { headers: list, validates: false };
  // Clients and shared caches know a response by its URL, not by the body of the request, unless the method is QUERY.
  if (readsBody && request.method !== queryMethod)
    return {
      headers: authorHeaders.has('cache-control') ? list : [...list, 'cache-control', 'no-store'],
      validates: false,
    };
  if (!authorHeaders.has('cache-control')) {
    list.push('cache-control', isPublic ? publicCacheControl(cachePolicy, age) : privateCacheControl);
  }
  const validates = !authorHeaders.has('etag') && !headers.includes('etag');
  if (validates) list.push('etag', etag);
  return { headers: list, validates };
}
