import type { Caller, Claim } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';
import type { SessionStore } from './sessions.ts';
import { TokenCache } from './token-cache.ts';

/** The contents of a cookie or token. Times in seconds since 1970. */
export interface TokenPayload {
  readonly session: string;
  readonly claims: readonly Claim[];
  readonly issuedAt: number;
  readonly expires: number;
  /** When the session ends; refreshed tokens keep this time. */
  readonly sessionExpires: number;
  /** The number of a refresh token within its session; 0 for other tokens. */
  readonly generation: number;
}

/** Returns the payload with short names, because it is sent with every request. */
export function encodePayload({
  session,
  claims,
  issuedAt,
  expires,
  sessionExpires,
  generation,
}: TokenPayload): object {
  return {
    s: session,
    c: claims,
    m: issuedAt,
    x: expires,
    e: sessionExpires,
    ...(generation === 0 ? {} : { g: generation }),
  };
}

/** Returns null for anything but a payload of this version. */
export function decodePayload(payload: object | null): TokenPayload | null {
  if (payload === null) return null;
  const {
    s: session,
    c,
    m: issuedAt,
    x: expires,
    e: sessionExpires,
    g: generation = 0,
  } = payload as Readonly<Record<string, unknown>>;
  const claims = claimsOf(c);
  if (typeof session !== 'string' || claims === null) return null;
  if (!isTime(issuedAt) || !isTime(expires) || !isTime(sessionExpires) || !isTime(generation)) return null;
  return Object.freeze({ session, claims, issuedAt, expires, sessionExpires, generation });
}

function claimsOf(value: unknown): readonly Claim[] | null {
  if (!Array.isArray(value) || !value.every(isClaim)) return null;
  return Object.freeze(value.map((claim): Claim => Object.freeze(claim)));
}

function isClaim(value: unknown): value is Claim {
  if (!Array.isArray(value) || !value.every((part) => typeof part === 'string')) return false;
  return value.length === 2 || (value.length === 3 && value[2] === 'json');
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export interface TokenAuthenticatorOptions {
  readonly scheme: string;
  readonly sentByBrowser: boolean;
  readonly encryption: TokenEncryption;
  readonly purpose: string;
  readonly sessions: SessionStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A token of this server that has not expired and whose session is alive. */
export interface VerifiedToken {
  readonly caller: Caller;
  readonly payload: TokenPayload;
}

/** Authenticates callers by their tokens. Decrypted tokens are cached; the session is checked each time. */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;
  readonly #cache: TokenCache<VerifiedToken>;

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
    this.#cache = new TokenCache(options.now);
  }

  /** @throws Problem 503 when the session cannot be checked */
  authenticate(token: string): VerifiedToken | null | Promise<VerifiedToken | null> {
    const cached = this.#cache.get(token);
    return cached === undefined ? this.#decrypt(token) : this.#checkSession(token, cached);
  }

  /** Returns the payload of a token, even when its session has ended. */
  async read(token: string): Promise<TokenPayload | null> {
    const { encryption, purpose } = this.#options;
    return decodePayload(await encryption.decrypt(purpose, token));
  }

  evict(token: string): void {
    this.#cache.delete(token);
  }

  async #decrypt(token: string): Promise<VerifiedToken | null> {
    const payload = await this.read(token);
    if (payload === null) return null;
    const { scheme, sentByBrowser } = this.#options;
    const { claims, session } = payload;
    const caller = Object.freeze({ scheme, issuer: null, claims, session, sentByBrowser });
    const verified = Object.freeze({ caller, payload });
    this.#cache.set(token, verified, payload.expires);
    return this.#checkSession(token, verified);
  }

  #checkSession(token: string, verified: VerifiedToken): VerifiedToken | null | Promise<VerifiedToken | null> {
    const alive = this.#options.sessions.isAlive(verified.payload.session);
    if (typeof alive !== 'boolean') return alive.then((result) => this.#evictUnless(result, token, verified));
    return this.#evictUnless(alive, token, verified);
  }

  #evictUnless(alive: boolean, token: string, verified: VerifiedToken): VerifiedToken | null {
    if (alive) return verified;
    this.#cache.delete(token);
    return null;
  }
}
