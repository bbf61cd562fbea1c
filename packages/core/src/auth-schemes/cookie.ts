import { parseCookie, stringifySetCookie } from 'cookie';

import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { AuthScheme, Caller, Claim } from '../ports/ports.ts';
import { claimsTooLarge } from './bearer-token.ts';
import { type VerifiedToken, TokenAuthenticator, encodePayload, type TokenPayload } from './token-authenticator.ts';
import {
  defaultCacheSize,
  createSession,
  quoteRealm,
  validateLifetimes,
  type SessionSchemeOptions,
} from './session-scheme.ts';
import { memorySessions, type SessionStore } from './sessions.ts';

export interface CookieSchemeOptions extends SessionSchemeOptions {
  /**
   * Default `pgway`. Under TLS alone, `__Host-pgway` is better: browsers then take it from this very host only, so that no
   * neighbour under the same domain can plant a sign-in of his.
   */
  readonly cookieName?: string;
  /** Seconds from sign-in to the end of the session. Default 14 days. */
  readonly lifetime?: number;
  /**
   * Seconds without a request after which the session ends before that. A cookie in the second half of its time is renewed:
   * `Caller.headers` has the new one. Default null: only the lifetime counts.
   */
  readonly sliding?: number | null;
  /** `always`, or (default) `auto`: when the client's connection is encrypted. */
  readonly secure?: 'auto' | 'always';
  /** Default `lax`: not sent with requests that other sites make, but with a link from there. */
  readonly sameSite?: 'lax' | 'strict';
  /** Default `/`. */
  readonly path?: string;
  /** Default: this host alone. */
  readonly domain?: string | null;
}

const day = 86_400;
/** The whole line; the least that browsers in use take. */
const longestCookie = 4093;

/**
 * Signs in by an encrypted cookie that says who it is for. No claim can be read or changed by its bearer; sign-out ends the
 * session as well as the cookie.
 * @throws TypeError for a name, path, domain or time that a browser or we would not take
 */
export function cookieScheme(options: CookieSchemeOptions): AuthScheme {
  const scheme = new CookieScheme(options);
  return Object.freeze({
    name: options.name,
    authenticate: (request) => scheme.authenticate(request),
    challenge: () => scheme.challenge,
    signIn: (claims, request) => scheme.signIn(claims, request),
    signOut: (request) => scheme.signOut(request),
    routes: [],
  } satisfies AuthScheme);
}

class CookieScheme {
  readonly challenge: string;
  readonly #options: CookieSchemeOptions;
  readonly #cookieName: string;
  readonly #lifetime: number;
  readonly #sliding: number | null;
  readonly #purpose: string;
  readonly #sessions: SessionStore;
  readonly #recognizer: TokenAuthenticator;
  readonly #now: () => number;

  constructor(options: CookieSchemeOptions) {
    const { name, encryption, cookieName = 'pgway', lifetime = 14 * day, sliding = null } = options;
    const { now = Date.now, cacheSize = defaultCacheSize } = options;
    validateLifetimes(name, { lifetime, sliding });
    requirePrefix(cookieName, options);
    this.#options = options;
    this.#cookieName = cookieName;
    this.#lifetime = lifetime;
    this.#sliding = sliding;
    this.#now = now;
    this.#purpose = `cookie ${name}`;
    this.#sessions = options.sessions ?? memorySessions({ now });
    // No browser knows this scheme, so none asks for a password; but a 401 has to name one.
    this.challenge = `Cookie realm=${quoteRealm(options)}`;
    const purpose = this.#purpose;
    const sessions = this.#sessions;
    this.#recognizer = new TokenAuthenticator({
      scheme: name,
      sentByBrowser: true,
      encryption,
      purpose,
      sessions,
      cacheSize,
      now,
    });
    // What `cookie` would refuse at the first sign-in it refuses now.
    this.#line('', 0, true);
  }

  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null> {
    const token = this.#tokenOf(request);
    if (token === null) return null;
    const recognized = this.#recognizer.authenticate(token);
    if (recognized instanceof Promise) return recognized.then((result) => this.#renewed(result, request));
    return this.#renewed(recognized, request);
  }

  async signIn(claims: readonly Claim[], request: GatewayRequest): Promise<{ headers: HeaderList; body: null }> {
    const issuedAt = this.#seconds();
    const sessionExpires = issuedAt + this.#lifetime;
    const session = createSession(claims, request, sessionExpires, this.#options);
    const ticket = {
      session: session.id,
      claims,
      issuedAt,
      expires: this.#expiry(issuedAt, sessionExpires),
      sessionExpires,
      generation: 0,
    };
    const line = await this.#cookieFor(ticket, request);
    await this.#sessions.begin(session);
    await this.#end(request);
    return { headers: ['set-cookie', line, 'cache-control', 'no-store'], body: null };
  }

  async signOut(request: GatewayRequest): Promise<HeaderList> {
    await this.#end(request);
    return ['set-cookie', this.#line('', 0, this.#isSecure(request)), 'cache-control', 'no-store'];
  }

  /** Ends the session that the request came with, where there is one. */
  async #end(request: GatewayRequest): Promise<void> {
    const token = this.#tokenOf(request);
    const ticket = token === null ? null : await this.#recognizer.read(token);
    if (token === null || ticket === null) return;
    this.#recognizer.evict(token);
    await this.#sessions.end(ticket.session, ticket.sessionExpires);
  }

  #renewed(recognized: VerifiedToken | null, request: GatewayRequest): Caller | null | Promise<Caller> {
    if (recognized === null) return null;
    const { caller, ticket } = recognized;
    return this.#isDue(ticket) ? this.#renew(caller, ticket, request) : caller;
  }

  #isDue({ issuedAt, expires, sessionExpires }: TokenPayload): boolean {
    if (this.#sliding === null || expires >= sessionExpires) return false;
    return this.#seconds() - issuedAt >= (expires - issuedAt) / 2;
  }

  async #renew(caller: Caller, ticket: TokenPayload, request: GatewayRequest): Promise<Caller> {
    const issuedAt = this.#seconds();
    const line = await this.#cookieFor(
      { ...ticket, issuedAt, expires: this.#expiry(issuedAt, ticket.sessionExpires) },
      request,
    );
    return { ...caller, headers: ['set-cookie', line] };
  }

  #expiry(issuedAt: number, sessionExpires: number): number {
    return this.#sliding === null ? sessionExpires : Math.min(issuedAt + this.#sliding, sessionExpires);
  }

  async #cookieFor(ticket: TokenPayload, request: GatewayRequest): Promise<string> {
    const value = await this.#options.encryption.encrypt(this.#purpose, encodePayload(ticket), ticket.expires);
    const line = this.#line(value, ticket.expires - ticket.issuedAt, this.#isSecure(request));
    if (line.length <= longestCookie) return line;
    throw claimsTooLarge(`a cookie of ${line.length} bytes; browsers take ${longestCookie}`);
  }

  #line(value: string, maxAge: number, secure: boolean): string {
    const { path = '/', sameSite = 'lax', domain = null } = this.#options;
    const expires = maxAge === 0 ? new Date(0) : new Date((this.#seconds() + maxAge) * 1000);
    const attributes = {
      maxAge,
      expires,
      path,
      httpOnly: true,
      secure,
      sameSite,
      ...(domain === null ? {} : { domain }),
    };
    return stringifySetCookie({ name: this.#cookieName, value, ...attributes }, { encode: (text) => text });
  }

  #isSecure(request: GatewayRequest): boolean {
    return this.#options.secure === 'always' || request.secure;
  }

  #tokenOf(request: GatewayRequest): string | null {
    const header = request.header('cookie');
    if (header === undefined || !header.includes(this.#cookieName)) return null;
    const value = parseCookie(header)[this.#cookieName];
    return value === undefined || value === '' ? null : value;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

/** Browsers throw away a cookie whose name promises what its attributes do not keep. */
function requirePrefix(cookieName: string, { secure, path = '/', domain = null }: CookieSchemeOptions): void {
  const prefix = /^__(host|secure)-/i.exec(cookieName)?.[1]?.toLowerCase();
  if (prefix === undefined) return;
  const kept = secure === 'always' && (prefix === 'secure' || (path === '/' && domain === null));
  if (kept) return;
  throw new TypeError(
    `No browser would take the cookie "${cookieName}": the prefix __Host- needs secure "always", path "/" and no domain; ` +
      `the prefix __Secure- needs secure "always".`,
  );
}
