import { createHash } from 'node:crypto';
import type { GatewayRequest } from '../../http/request.ts';
import type { CacheHeaders, CallResult } from '../execute.ts';
import type { SizeLimit } from '../../response/response-writer.ts';
import type { CachedResponse } from '../../ports/ports.ts';
import type { CachePolicy } from './cache-key.ts';

/** What came of a call, to be kept; null when it is none of what is kept. */
export function toCachedResponse(outcome: CallResult, bounds: SizeLimit): CachedResponse | null {
  if (outcome.kind !== 'whole' || outcome.rows > bounds.rows || outcome.body.length > bounds.bytes) return null;
  const headers = outcome.headerRow?.headers ?? [];
  if (headers.some((name, index) => index % 2 === 0 && name === 'set-cookie')) return null;
  // Memory of its own: a part of a larger piece would keep all of that.
  const body = Buffer.allocUnsafeSlow(outcome.body.length);
  body.set(outcome.body);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, rows: outcome.rows, headers, etag, storedAt: Date.now() };
}

export interface ReuseContext {
  readonly cachePolicy: CachePolicy;
  readonly request: GatewayRequest;
  /** Whether a cache on the way may give the answer to others too. */
  readonly isPublic: boolean;
  /** Whether the answer was there before the request. */
  readonly isHit: boolean;
  /** Whether the answer renews its caller's credentials. */
  readonly refreshesCredentials: boolean;
}

/** A kept answer as what came of the call. */
export function toCallResult(answer: CachedResponse, manner: ReuseContext): CallResult {
  const { body, rows, headers } = answer;
  return {
    kind: 'whole',
    body: body as Buffer,
    rows,
    headerRow: headers.length === 0 ? null : { headers },
    cacheHeaders: keptOf(answer, manner),
  };
}

/** The next user of the browser, or the same one without a role, must not find it there: the gateway is asked every time. */
const personalControl = 'private, no-cache';

function sharedControl(expires: number | null, age: number): string {
  // Without an end it may be made void at any time: it is asked for every time whether it still holds.
  if (expires === null) return 'public, no-cache';
  return `public, max-age=${Math.floor(Math.max(0, expires - age) / 1_000)}`;
}

/** What caches on the way, and the client's own, are told (RFC 9111); what the author says goes before it. */
function keptOf(
  { etag, headers, storedAt }: CachedResponse,
  { cachePolicy: caching, request, isPublic: shared, isHit: again, refreshesCredentials: renewing }: ReuseContext,
): CacheHeaders {
  if (renewing) return { headers: ['cache-control', 'no-store'], validates: false };
  const { expires, authorHeaders: said } = caching;
  const age = Math.max(0, Date.now() - storedAt);
  const list = again ? ['age', String(Math.floor(age / 1_000))] : [];
  // The answer to any other method is no state of the resource that a later GET could be compared with.
  if (request.method !== 'GET' && request.method !== 'HEAD') return { headers: list, validates: false };
  if (!said.has('cache-control')) list.push('cache-control', shared ? sharedControl(expires, age) : personalControl);
  const validates = !said.has('etag') && !headers.includes('etag');
  if (validates) list.push('etag', etag);
  return { headers: list, validates };
}
