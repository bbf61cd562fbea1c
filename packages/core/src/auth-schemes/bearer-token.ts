import type { GatewayRequest } from '../http/request.ts';
import { Problem } from '../ports/ports.ts';

/** Half of the headers that `node:http` accepts by default. */
const maxTokenLength = 8192;

/** Returns the first group of the pattern in the `Authorization` header; null when it does not match. */
export function readBearerToken(request: GatewayRequest, pattern: RegExp): string | null {
  const header = request.header('authorization');
  if (header === undefined || header.length > maxTokenLength + 16) return null;
  return pattern.exec(header)?.[1] ?? null;
}

/** Whether the request has a bearer token of any form. */
export function hasBearerToken(request: GatewayRequest): boolean {
  return /^bearer\b/i.test(request.header('authorization') ?? '');
}

/**
 * Returns the challenge of a 401 (RFC 6750, 3), with the reason why the token was refused.
 * @param realm with quotes
 */
export function bearerChallenge(realm: string, request: GatewayRequest, reason: string | null): string {
  const error = hasBearerToken(request) ? ', error="invalid_token"' : '';
  const description = reason === null ? '' : `, error_description="${reason}"`;
  return `Bearer realm=${realm}${error}${description}`;
}

/** @throws Problem 500 for a token that is too long for a header */
export function validateTokenLength(token: string): void {
  if (token.length > maxTokenLength)
    throw claimsTooLarge(`a token of ${token.length} bytes; headers have room for ${maxTokenLength}`);
}

/** The error of a login whose claims do not fit into a token. */
export function claimsTooLarge(made: string): Problem {
  return new Problem('internal', {
    detail: `The claims of this login make ${made}. Let the login routine return fewer or shorter columns.`,
  });
}

/** The reasons why tokens were refused, for the challenges in the responses to the same requests. */
export class TokenRefusals {
  readonly #reasons = new WeakMap<GatewayRequest, string>();

  /**
   * Stores the reason, and returns null as the caller.
   * @param reason printable ASCII without quotes and backslashes, for `error_description` (RFC 6750, 3)
   */
  refuse(request: GatewayRequest, reason: string): null {
    this.#reasons.set(request, reason);
    return null;
  }

  /** Returns null when the request has no token, or a valid one. */
  reason(request: GatewayRequest): string | null {
    return this.#reasons.get(request) ?? null;
  }
}
