import { type AccessControl, type AuthorizationResult, authorizeIfNeeded } from '../auth/authorize.ts';
import type { GatewayRequest } from '../http/request.ts';
import type { CompiledEndpoint } from './compiled-endpoint.ts';
import type { LimitedRequest } from './rate-limit/limited-request.ts';

/** A request, and its rate limit, null without one. */
export interface MaybeLimitedRequest {
  readonly request: GatewayRequest;
  readonly limited: LimitedRequest | null;
}

/**
 * Counts the request of a route with a rate limit, and authorizes its caller. At once, unless a caller or a store has to be waited for.
 * @throws Problem 401, 403, 429, 503
 */
export function admit(
  candidates: readonly CompiledEndpoint[],
  { request, limited }: MaybeLimitedRequest,
  access: AccessControl,
): AuthorizationResult<CompiledEndpoint> | Promise<AuthorizationResult<CompiledEndpoint>> {
  if (limited === null) return authorizeIfNeeded(candidates, request, access);
  return limited.admit(() => authorizeIfNeeded(candidates, request, access));
}
