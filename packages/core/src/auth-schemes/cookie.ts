import { parseCookie, stringifySetCookie } from 'cookie';

import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { AuthScheme, Caller, Claim } from '../ports/ports.ts';
import { claimsTooLarge, TokenRefusals } from './bearer-token.ts';
import { type VerifiedToken, TokenAuthenticator, encodePayload, type TokenPayload } from './token-authenticator.ts';
import { createSession, quoteRealm, validateLifetimes, type SessionSchemeOptions } from './session-scheme.ts';
import { type CookieOptions, cookieOptions } from './options.ts';
import { type Resolved, withDefaults } from '../validation/option.ts';
import { memorySessions, type SessionStore } from './sessions.ts';

export interface CookieSchemeOptions extends SessionSchemeOptions, Omit<CookieOptions, 'name'> {}

/** With their defaults applied. */
type ResolvedOptions = SessionSchemeOptions & Resolved<CookieOptions>;

const refusedCookie = 'The session has ended, or its cookie has expired or is not one of this server';
/** The maximum length of `Set-Cookie` in the most restrictive browsers. */
const maxCookieLength = 4093;

/**
 * Signs in by an encrypted cookie with the claims. Logout ends the session and deletes the cookie.
 * @throws TypeError for an invalid name, path, domain or lifetime
 */
export function cookieScheme(options: CookieSchemeOptions): AuthScheme {
  const scheme = new CookieScheme({ ...options, ...withDefaults<CookieOptions>(cookieOptions, options) });
  return Object.freeze({
    name: options.name,
    authenticate: (request) => scheme.authenticate(request),
    challenge: () => scheme.challenge,
    refusal: (request) => scheme.refusal(request),
    removal: (request) => scheme.removal(request),
    signIn: (claims, request) => scheme.signIn(claims, request),
    signOut: (request) => scheme.signOut(request),
    routes: [],
  } satisfies AuthScheme);
}

class CookieScheme {
  readonly challenge: string;
  readonly #options: ResolvedOptions;
  readonly #cookieName: string;
  readonly #lifetime: number;
  readonly #sliding: number | null;
  readonly #purpose: string;
  readonly #sessions: SessionStore;
  readonly #authenticator: TokenAuthenticator;
  readonly #refusals = new TokenRefusals();
  readonly #now: () => number;

  constructor(options: ResolvedOptions) {
    const { name, encryption, cookieName, lifetime, sliding, now = Date.now } = options;
    validateLifetimes(name, { lifetime, sliding });
    validatePrefix(cookieName, options);
    this.#options = options;
    this.#cookieName = cookieName;
    this.#lifetime = lifetime;
    this.#sliding = sliding;
    this.#now = now;
    this.#purpose = `cookie ${name}`;
    this.#sessions = options.sessions ?? memorySessions({ now });
    // A 401 must have a challenge (RFC 9110, 15.5.2). Browsers ignore this scheme.
    this.challenge = `Cookie realm=${quoteRealm(options.realm)}`;
    const purpose = this.#purpose;
    const sessions = this.#sessions;
    this.#authenticator = new TokenAuthenticator({
      scheme: name,
      sentByBrowser: true,
      encryption,
      purpose,
      sessions,
      now,
    });
    // Throws for an attribute that would fail at the first login.
    this.#line('', 0, true);
  }

  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null> {
    const token = this.#tokenOf(request);
    if (token === null) return null;
    const verified = this.#authenticator.authenticate(token);
    if (verified instanceof Promise) return verified.then((result) => this.#withFreshCookie(result, request));
    return this.#withFreshCookie(verified, request);
  }

  refusal(request: GatewayRequest): string | null {
    return this.#refusals.reason(request);
  }

  removal(request: GatewayRequest): HeaderList {
    return ['set-cookie', this.#line('', 0, this.#isSecure(request)), 'cache-control', 'no-store'];
  }

  async signIn(claims: readonly Claim[], request: GatewayRequest): Promise<{ headers: HeaderList; body: null }> {
    const issuedAt = this.#seconds();
    const sessionExpires = issuedAt + this.#lifetime;
    const session = createSession(claims, request, sessionExpires, this.#options);
    const payload = {
      session: session.id,
      claims,
      issuedAt,
      expires: this.#expiry(issuedAt, sessionExpires),
      sessionExpires,
      generation: 0,
    };
    const line = await this.#cookieFor(payload, request);
    await this.#sessions.begin(session);
    await this.#end(request);
    return { headers: ['set-cookie', line, 'cache-control', 'no-store'], body: null };
  }

  async signOut(request: GatewayRequest): Promise<HeaderList> {
    await this.#end(request);
    return this.removal(request);
  }

  /** Ends the session of the request's cookie. */
  async #end(request: GatewayRequest): Promise<void> {
    const token = this.#tokenOf(request);
    const payload = token === null ? null : await this.#authenticator.read(token);
    if (token === null || payload === null) return;
    this.#authenticator.evict(token);
    await this.#sessions.end(payload.session, payload.sessionExpires);
  }

  #withFreshCookie(verified: VerifiedToken | null, request: GatewayRequest): Caller | null | Promise<Caller> {
    if (verified === null) return this.#refusals.refuse(request, refusedCookie);
    const { caller, payload } = verified;
    return this.#isDue(payload) ? this.#renew(caller, payload, request) : caller;
  }

  #isDue({ issuedAt, expires, sessionExpires }: TokenPayload): boolean {
    if (this.#sliding === null || expires >= sessionExpires) return false;
    return this.#seconds() - issuedAt >= (expires - issuedAt) / 2;
  }

  async #renew(caller: Caller, payload: TokenPayload, request: GatewayRequest): Promise<Caller> {
    const issuedAt = this.#seconds();
    const line = await this.#cookieFor(
      { ...payload, issuedAt, expires: this.#expiry(issuedAt, payload.sessionExpires) },
      request,
    );
    return { ...caller, headers: ['set-cookie', line] };
  }

  #expiry(issuedAt: number, sessionExpires: number): number {
    return this.#sliding === null ? sessionExpires : Math.min(issuedAt + this.#sliding, sessionExpires);
  }

  async #cookieFor(payload: TokenPayload, request: GatewayRequest): Promise<string> {
    const value = await this.#options.encryption.encrypt(this.#purpose, encodePayload(payload), payload.expires);
    const line = this.#line(value, payload.expires - payload.issuedAt, this.#isSecure(request));
    if (line.length <= maxCookieLength) return line;
    throw claimsTooLarge(`a cookie of ${line.length} bytes; browsers take ${maxCookieLength}`);
  }

  #line(value: string, maxAge: number, secure: boolean): string {
    const { path, sameSite, domain } = this.#options;
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

/** @throws TypeError when the attributes do not fit the prefix of the name: browsers would reject the cookie */
function validatePrefix(cookieName: string, { secure, path, domain }: ResolvedOptions): void {
  const prefix = /^__(host|secure)-/i.exec(cookieName)?.[1]?.toLowerCase();
  if (prefix === undefined) return;
  const fits = secure === 'always' && (prefix === 'secure' || (path === '/' && domain === null));
  if (fits) return;
  throw new TypeError(
    `browsers reject the cookie "${cookieName}": the prefix __Host- needs secure "always", path "/" and no domain; ` +
      `the prefix __Secure- needs secure "always".`,
  );
}
