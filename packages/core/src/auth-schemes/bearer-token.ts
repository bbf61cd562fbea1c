import type { GatewayRequest } from '../http/request.ts';
import { Problem } from '../ports/ports.ts';

/** What fits into the headers that servers take, with room for others. */
const longestToken = 8192;

/** The token of an `Authorization` header of this form, its first group; null: there is none. */
export function readBearerToken(request: GatewayRequest, form: RegExp): string | null {
  const header = request.header('authorization');
  if (header === undefined || header.length > longestToken + 16) return null;
  return form.exec(header)?.[1] ?? null;
}

/** Whether the request brings a bearer token, of whatever form. */
export function hasBearerToken(request: GatewayRequest): boolean {
  return /^bearer\b/i.test(request.header('authorization') ?? '');
}

/**
 * The challenge of a 401 (RFC 6750, 3), with why the request's token was refused.
 * @param realm in its quotes
 */
export function bearerChallenge(realm: string, request: GatewayRequest, reason: string | null): string {
  const error = hasBearerToken(request) ? ', error="invalid_token"' : '';
  const description = reason === null ? '' : `, error_description="${reason}"`;
  return `Bearer realm=${realm}${error}${description}`;
}

/** @throws Problem 500 for a token that would not come back in a header */
export function validateTokenLength(token: string): void {
  if (token.length > longestToken)
    throw claimsTooLarge(`a token of ${token.length} bytes; headers have room for ${longestToken}`);
}

/** A sign-in that says more of its caller than can be carried. */
export function claimsTooLarge(made: string): Problem {
  return new Problem('internal', {
    detail: `The claims of this sign-in make ${made}. Let the login routine return fewer or shorter columns.`,
  });
}

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
