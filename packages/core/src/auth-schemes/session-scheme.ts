import { randomBytes } from 'node:crypto';

import type { GatewayRequest } from '../http/request.ts';
import type { Claim } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';
import type { NewSession, SessionStore } from './sessions.ts';

/** What the schemes that begin sessions have in common. */
export interface SessionSchemeOptions {
  /** The scheme's name, by which a sign-in chooses it. */
  readonly name: string;
  readonly encryption: TokenEncryption;
  /** Default: this instance remembers which sessions have ended. */
  readonly sessions?: SessionStore;
  /** Of `WWW-Authenticate`. Default `pgway`. */
  readonly realm?: string;
  /** The claims that a session is listed under. Default `id` and `name`. */
  readonly userIdClaim?: string;
  readonly userNameClaim?: string;
  /** Where a request comes from, by the host's rule for proxies. Default: the peer of its connection. */
  readonly address?: (request: GatewayRequest) => string | null;
  /** The most tokens that are remembered, each with its claims. Default 5,000. */
  readonly cacheSize?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export const defaultCacheSize = 5000;

const longestUserAgent = 512;

/** A session of its own for each sign-in, whatever the request came with. */
export function createSession(
  claims: readonly Claim[],
  request: GatewayRequest,
  expires: number,
  options: Omit<SessionSchemeOptions, 'encryption'>,
): NewSession {
  const { name, userIdClaim = 'id', userNameClaim = 'name', address } = options;
  const valueOf = (wanted: string): string | null => claims.find(([claim]) => claim === wanted)?.[1] ?? null;
  return {
    id: randomBytes(16).toString('base64url'),
    userId: valueOf(userIdClaim),
    userName: valueOf(userNameClaim),
    scheme: name,
    ip: address === undefined ? (request.remoteAddress ?? null) : address(request),
    userAgent: request.header('user-agent')?.slice(0, longestUserAgent) ?? null,
    expires,
  };
}

/**
 * The realm as it stands in a challenge.
 * @throws TypeError for what a header cannot hold
 */
export function quoteRealm({ realm = 'pgway' }: Pick<SessionSchemeOptions, 'realm'>): string {
  if (/^[\x20-\x7e]*$/.test(realm)) return `"${realm.replaceAll(/["\\]/g, '\\$&')}"`;
  throw new TypeError(`The realm ${JSON.stringify(realm)} cannot stand in a header: use printable ASCII.`);
}

/** @throws TypeError unless every one of these is a time to live: whole seconds, at least one */
export function validateLifetimes(scheme: string, times: Readonly<Record<string, number | null>>): void {
  for (const [name, seconds] of Object.entries(times)) {
    if (seconds === null || (Number.isSafeInteger(seconds) && seconds > 0)) continue;
    throw new TypeError(`The scheme "${scheme}" has ${name} ${seconds}: give whole seconds, at least 1.`);
  }
}
