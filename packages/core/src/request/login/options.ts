import type { ClaimTypes } from '../../auth/identity.ts';
import type { LoginRateLimiter, AuthScheme, PasswordHasher, RateLimiter, CsrfGuard } from '../../ports/ports.ts';

/** What signing in and out needs besides the call itself. */
export interface SignInOptions {
  readonly schemes: readonly AuthScheme[];
  /** What the identity is called where the routine names no scheme; one of this name is then the default scheme. */
  readonly authenticationType: string;
  readonly hasher: PasswordHasher;
  readonly attempts: LoginRateLimiter;
  /** Of requests whose parameters are hashed. */
  readonly hashRateLimit: RateLimiter;
  readonly siteGuard: CsrfGuard;
  readonly claimTypes: ClaimTypes;
  /** A NULL hash means that the routine has verified the password itself; otherwise it is a failed verification. */
  readonly allowNullHash: boolean;
  /** Whether the routine's own row is the answer, where nothing else is. */
  readonly serializeResponse: boolean;
  readonly verificationFailedCommand: string | null;
  readonly verificationSucceededCommand: string | null;
  /** Runs a command of the host's on the gateway's own database. */
  readonly command: (sql: string, values: readonly (string | null)[]) => Promise<unknown>;
  /** Told of what has failed and is not the client's fault. */
  readonly report: (error: Error) => void;
}

/**
 * The scheme of that name. Null, or what the identity is called: the default one, which is the scheme of that name, or the first that
 * can do this.
 */
export function schemeFor(
  { schemes, authenticationType }: Pick<SignInOptions, 'schemes' | 'authenticationType'>,
  name: string | null,
  can: 'signIn' | 'signOut',
): AuthScheme | null {
  const able = schemes.filter((scheme) => scheme[can] !== null);
  const named = able.find((scheme) => scheme.name === (name ?? authenticationType));
  if (named !== undefined) return named;
  return name === null || name === authenticationType ? (able[0] ?? null) : null;
}
