import type { GatewayRequest } from '../http/request.ts';

/** Why the tokens of requests were refused, for the challenge in the answers to the same requests. */
export class TokenRefusals {
  readonly #reasons = new WeakMap<GatewayRequest, string>();

  /**
   * Remembers the reason; the caller is not known then.
   * @param reason printable ASCII without quotes and backslashes, as `error_description` holds it (RFC 6750, 3)
   */
  refuse(request: GatewayRequest, reason: string): null {
    this.#reasons.set(request, reason);
    return null;
  }

  /** Null: the request brought no token, or its token counts. */
  reason(request: GatewayRequest): string | null {
    return this.#reasons.get(request) ?? null;
  }
}
