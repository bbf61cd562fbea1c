import { randomBytes } from 'node:crypto';

import type { GatewayRequest } from '../http/request.ts';
import type { Claim } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';
import type { NewSession, SessionStore } from './sessions.ts';

/** The common options of the schemes with sessions. */
export interface SessionSchemeOptions {
  /** The name by which a login selects the scheme. */
  readonly name: string;
  /** The realm that the challenge names. Default `pgway`. */
  readonly realm?: string;
  readonly encryption: TokenEncryption;
  /** Default: the sessions that ended on this instance, in memory. */
  readonly sessions?: SessionStore;
  /** The claims with the user of a session. Default `id` and `name`. */
  readonly userIdClaim?: string;
  readonly userNameClaim?: string;
  /** Returns the client's address. Default: `remoteAddress` of the request. */
  readonly address?: (request: GatewayRequest) => string | null;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const maxUserAgentLength = 512;

/** Returns a new session for a login, never the session of the request (session fixation). */
export function createSession(
  claims: readonly Claim[],
  request: GatewayRequest,
  expires: number,
  options: Omit<SessionSchemeOptions, 'encryption'>,
): NewSession {
  const { name: scheme, userIdClaim = 'id', userNameClaim = 'name', address } = options;
  const valueOf = (name: string): string | null => claims.find(([claim]) => claim === name)?.[1] ?? null;
  return {
    id: randomBytes(16).toString('base64url'),
    userId: valueOf(userIdClaim),
    userName: valueOf(userNameClaim),
    scheme,
    ip: address === undefined ? (request.remoteAddress ?? null) : address(request),
    userAgent: request.header('user-agent')?.slice(0, maxUserAgentLength) ?? null,
    expires,
  };
}

/**
 * Returns the realm as a quoted string.
 * @throws TypeError for characters that a header cannot have
 */
export function quoteRealm(realm = 'pgway'): string {
  if (/^[\x20-\x7e]*$/.test(realm)) return `"${realm.replaceAll(/["\\]/g, '\\$&')}"`;
  throw new TypeError(`the realm ${JSON.stringify(realm)} cannot be sent in a header; use printable ASCII`);
}

/** @throws TypeError unless each lifetime is null or a positive integer */
export function validateLifetimes(scheme: string, times: Readonly<Record<string, number | null>>): void {
  for (const [name, seconds] of Object.entries(times)) {
    if (seconds === null || (Number.isSafeInteger(seconds) && seconds > 0)) continue;
    throw new TypeError(`the scheme "${scheme}" has ${name} ${seconds}; give whole seconds, at least 1`);
  }
}
