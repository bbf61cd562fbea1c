import type { AuthScheme, CsrfGuard, LoginRateLimiter, PasswordHasher, RateLimiter } from '../ports/ports.ts';
import type { ClaimTypes } from './claims.ts';

/** The options of login and logout. */
export interface LoginOptions {
  readonly schemes: readonly AuthScheme[];
  /** The authentication type of logins whose routine names no scheme; a scheme of this name is then the default scheme. */
  readonly authenticationType: string;
  readonly hasher: PasswordHasher;
  readonly loginRateLimiter: LoginRateLimiter;
  /** For requests with hashed parameters. */
  readonly hashRateLimiter: RateLimiter;
  readonly csrfGuard: CsrfGuard;
  readonly claimTypes: ClaimTypes;
  /** A NULL hash means that the routine has verified the password; otherwise the verification fails. */
  readonly allowNullHash: boolean;
  /** The response is the routine's row where neither the scheme nor the message column gives a body. */
  readonly serializeResponse: boolean;
  /** The status of the response to an unknown user and to a wrong password, where the row has a hash. */
  readonly verificationFailedStatus: number;
  readonly verificationFailedCommand: string | null;
  readonly verificationSucceededCommand: string | null;
  /** Runs a command of the host on the main database. */
  readonly command: (sql: string, values: readonly (string | null)[]) => Promise<unknown>;
  /** Reports failures that the client has not caused. */
  readonly report: (error: Error) => void;
}

/**
 * Returns the scheme with this name. For null and the authentication type that is the default scheme: the scheme named like the
 * authentication type, or the first one that supports the operation.
 */
export function selectScheme(
  { schemes, authenticationType }: Pick<LoginOptions, 'schemes' | 'authenticationType'>,
  name: string | null,
  operation: 'signIn' | 'signOut',
): AuthScheme | null {
  const able = schemes.filter((scheme) => scheme[operation] !== null);
  const named = able.find((scheme) => scheme.name === (name ?? authenticationType));
  if (named !== undefined) return named;
  return name === null || name === authenticationType ? (able[0] ?? null) : null;
}
