import type { Caller, Claim } from '../ports/ports.ts';
import type { TokenEncryption } from './keys/key-ring.ts';
import type { SessionStore } from './sessions.ts';
import { TokenCache } from './expiring-map.ts';

/** What stands in a cookie or token. Times in seconds since 1970. */
export interface TokenPayload {
  readonly session: string;
  readonly claims: readonly Claim[];
  /** When this cookie or token was made. */
  readonly issuedAt: number;
  /** When this cookie or token ends. */
  readonly expires: number;
  /** When the session ends, whatever is renewed until then. */
  readonly sessionExpires: number;
  /** The number of a refresh token among those of its session; 0 elsewhere. */
  readonly generation: number;
}

/** Short names: every byte is sent with every request. */
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

/** Null: not a ticket, or one of another version. */
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
  /** The most tokens that are remembered. */
  readonly cacheSize: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A token that counts: of ours, in its time, and its session alive. */
export interface VerifiedToken {
  readonly caller: Caller;
  readonly ticket: TokenPayload;
}

/** Tells whose tokens they are. What it has read it remembers; whether the session is alive it asks each time. */
export class TokenAuthenticator {
  readonly #options: TokenAuthenticatorOptions;
  readonly #cache: TokenCache<VerifiedToken>;

  constructor(options: TokenAuthenticatorOptions) {
    this.#options = options;
    this.#cache = new TokenCache(options.cacheSize, options.now);
  }

  /** @throws Problem when it cannot be found out whether the session is alive */
  authenticate(token: string): VerifiedToken | null | Promise<VerifiedToken | null> {
    const known = this.#cache.get(token);
    return known === undefined ? this.#open(token) : this.#admit(token, known);
  }

  /** What the token says, also when its session is over. */
  async read(token: string): Promise<TokenPayload | null> {
    const { encryption, purpose } = this.#options;
    return decodePayload(await encryption.decrypt(purpose, token));
  }

  evict(token: string): void {
    this.#cache.delete(token);
  }

  async #open(token: string): Promise<VerifiedToken | null> {
    const payload = await this.read(token);
    if (payload === null) return null;
    const { scheme, sentByBrowser } = this.#options;
    const caller = Object.freeze({ scheme, claims: payload.claims, session: payload.session, sentByBrowser });
    const recognized = Object.freeze({ caller, ticket: payload });
    this.#cache.set(token, recognized, payload.expires);
    return this.#admit(token, recognized);
  }

  #admit(token: string, recognized: VerifiedToken): VerifiedToken | null | Promise<VerifiedToken | null> {
    const alive = this.#options.sessions.isAlive(recognized.ticket.session);
    if (typeof alive !== 'boolean') return alive.then((answer) => this.#verdict(answer, token, recognized));
    return this.#verdict(alive, token, recognized);
  }

  #verdict(alive: boolean, token: string, recognized: VerifiedToken): VerifiedToken | null {
    if (alive) return recognized;
    this.#cache.delete(token);
    return null;
  }
}
