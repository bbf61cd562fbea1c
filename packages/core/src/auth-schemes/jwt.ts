import { type JWTPayload, SignJWT } from 'jose';

import type { GatewayRequest } from '../http/request.ts';
import type { HeaderList } from '../http/response.ts';
import type { AuthScheme, Caller, Claim } from '../ports/ports.ts';
import {
  bearerChallenge,
  validateTokenLength,
  hasBearerToken,
  readBearerToken,
  TokenRefusals,
} from './bearer-token.ts';
import { ExpiringMap, TokenCache } from './expiring-map.ts';
import { type JwksOptions, parseJwksUrl } from './jwks.ts';
import { type ClaimPaths, createPayload } from './jwt-claims.ts';
import { type JwtKey, type JwtKeyPair, parseJwtKey } from './jwt-keys.ts';
import { type JwtRules, JwtVerifier, type VerifiedJwt } from './jwt-verifier.ts';
import {
  defaultCacheSize,
  createSession,
  quoteRealm,
  validateLifetimes,
  type SessionSchemeOptions,
} from './session-scheme.ts';
import { memorySessions, type SessionStore } from './sessions.ts';

/** Revocation by a number (or any text) that each user has, and that changes when what was issued before counts no more. */
export interface JwtVersions {
  /** The claim that holds the version at sign-in. Default `version`. */
  readonly claim?: string;
  /** The version of this user now, by the claim of user ids; null: there is no such user. What it throws fails the request. */
  readonly current: (userId: string) => Promise<string | null>;
  /** Seconds for which an answer is believed. Default 5. */
  readonly cacheSeconds?: number;
}

/** Times in seconds. */
export interface JwtSchemeOptions extends Omit<SessionSchemeOptions, 'encryption'> {
  /** What tokens are verified with; several while one takes over from another. Who holds one can speak for any of the issuers. */
  readonly keys?: readonly JwtKey[];
  /** Where the public keys of an issuer are, in place of `keys` and `signingKey`. */
  readonly jwks?: JwksOptions | null;
  /** What tokens are signed with at sign-in, and verified with too. Null: this scheme signs nobody in. */
  readonly signingKey?: JwtKey | null;
  /** Of sign-in. Default an hour. */
  readonly lifetime?: number;
  /** Who must have issued a token; the first one is who we are. Null: anybody whose key is known. */
  readonly issuer?: string | readonly string[] | null;
  /** Whom a token must be for: one of these. Null: whomever. */
  readonly audience?: string | readonly string[] | null;
  /** Default true, wherever it runs: issuer and audience have to be said, if only to be null, and keys come by https alone. */
  readonly production?: boolean;
  /** How much the clocks of issuers may differ from ours. Default 30. */
  readonly clockTolerance?: number;
  /** Default true: a token that never expires is none. */
  readonly requireExpiry?: boolean;
  /** Since a token was issued, whatever it says itself. Default null: only its own end counts. */
  readonly maxTokenAge?: number | null;
  /** What the header has to name as `typ`, such as `at+jwt`. Default null: anything. */
  readonly type?: string | null;
  readonly claims?: ClaimPaths;
  /**
   * Which sessions are alive; a token's session is its `jti`, and one without is refused. Absent: this instance remembers which
   * have ended.
   */
  readonly sessions?: SessionStore;
  readonly versions?: JwtVersions | null;
  /** Told why tokens cannot be verified, where that is not their own fault. */
  readonly report?: (error: Error) => void;
}

export interface JwtScheme extends AuthScheme {
  /** What a host should know at the start. */
  readonly warnings: readonly string[];
}

/** Three parts, the last not empty. Anything else is another scheme's business. */
const credentials = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;
const mostVersions = 10_000;
const sessionEnded = 'The session of the token has ended';

/**
 * Recognises callers by signed tokens (JWT; HS256, RS256, ES256), made here or by an issuer whose keys are known. Each key is
 * for one algorithm, whatever a token says of itself.
 * @throws TypeError for a missing or weak key, or what has to be pinned and is not
 */
export function jwtScheme(options: JwtSchemeOptions): JwtScheme {
  const scheme = new Jwt(options);
  return Object.freeze({
    name: options.name,
    warnings: scheme.warnings,
    authenticate: (request) => scheme.authenticate(request),
    challenge: (request) => scheme.challenge(request),
    refusal: (request) => scheme.refusal(request),
    signIn: scheme.signs ? (claims, request) => scheme.signIn(claims, request) : null,
    signOut: (request) => scheme.signOut(request),
    routes: [],
  } satisfies JwtScheme);
}

class Jwt {
  readonly warnings: readonly string[];
  readonly signs: boolean;
  readonly #options: JwtSchemeOptions;
  readonly #signing: JwtKeyPair | null;
  readonly #verifier: JwtVerifier;
  readonly #sessions: SessionStore;
  readonly #cache: TokenCache<VerifiedJwt>;
  readonly #versions: ExpiringMap<string>;
  readonly #realm: string;
  readonly #refusals = new TokenRefusals();
  readonly #now: () => number;

  constructor(options: JwtSchemeOptions) {
    const { now = Date.now, lifetime = 3600, maxTokenAge = null, keys = [], signingKey = null } = options;
    validateLifetimes(options.name, { lifetime, maxTokenAge });
    this.warnings = warningsOf(options);
    this.#options = options;
    this.#now = now;
    this.#realm = quoteRealm(options);
    this.#signing = signingKey === null ? null : signer(parseJwtKey(signingKey));
    this.signs = this.#signing !== null;
    const known = [...keys.map(parseJwtKey), ...(this.#signing === null ? [] : [this.#signing])];
    requireOneTrust(options, known);
    this.#verifier = new JwtVerifier(rulesOf(options, known));
    this.#sessions = options.sessions ?? memorySessions({ now });
    this.#cache = new TokenCache(options.cacheSize ?? defaultCacheSize, now);
    this.#versions = new ExpiringMap(mostVersions, now);
  }

  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null> {
    if (!hasBearerToken(request)) return null;
    const token = readBearerToken(request, credentials);
    if (token === null) return this.#refusals.refuse(request, 'The token is malformed');
    const known = this.#cache.get(token);
    const verdict = known === undefined ? this.#authenticateAnew(token) : this.#admit(known.caller);
    return verdict instanceof Promise
      ? verdict.then((result) => this.#callerOf(request, result))
      : this.#callerOf(request, verdict);
  }

  #callerOf(request: GatewayRequest, verdict: Caller | string): Caller | null {
    return typeof verdict === 'string' ? this.#refusals.refuse(request, verdict) : verdict;
  }

  challenge(request: GatewayRequest): string {
    return bearerChallenge(this.#realm, request, this.refusal(request));
  }

  refusal(request: GatewayRequest): string | null {
    return this.#refusals.reason(request);
  }

  async signIn(claims: readonly Claim[], request: GatewayRequest): Promise<{ headers: HeaderList; body: string }> {
    const { lifetime = 3600, claims: paths = {} } = this.#options;
    const { algorithm, id, signing } = this.#signing!;
    const issued = Math.floor(this.#now() / 1000);
    const session = createSession(claims, request, issued + lifetime, this.#options);
    const payload = { ...createPayload(claims, paths), ...named(this.#options) };
    const token = await new SignJWT(payload)
      .setProtectedHeader({ alg: algorithm, typ: this.#options.type ?? 'JWT', ...(id === null ? {} : { kid: id }) })
      .setIssuedAt(issued)
      .setExpirationTime(issued + lifetime)
      .setJti(session.id)
      .sign(signing!);
    validateTokenLength(token);
    await this.#sessions.begin(session);
    const body = JSON.stringify({ token_type: 'Bearer', access_token: token, expires_in: lifetime });
    return { headers: ['content-type', 'application/json', 'cache-control', 'no-store'], body };
  }

  async signOut(request: GatewayRequest): Promise<HeaderList> {
    const token = readBearerToken(request, credentials);
    const verified = token === null ? '' : (this.#cache.get(token) ?? (await this.#verifier.verify(token)));
    if (token !== null && typeof verified !== 'string' && verified.caller.session !== null) {
      this.#cache.delete(token);
      await this.#sessions.end(verified.caller.session, verified.expires);
    }
    return ['cache-control', 'no-store'];
  }

  /** A text says why the token is refused, here and below. */
  async #authenticateAnew(token: string): Promise<Caller | string> {
    const verified = await this.#verifier.verify(token);
    if (typeof verified === 'string') return verified;
    this.#cache.set(token, verified, verified.expires);
    return this.#admit(verified.caller);
  }

  /** What changes while a token counts is asked each time. */
  #admit(caller: Caller): Caller | string | Promise<Caller | string> {
    const { versions = null, sessions } = this.#options;
    if (caller.session === null) {
      return sessions === undefined ? this.#ofVersion(caller, versions) : 'The token names no session';
    }
    const alive = this.#sessions.isAlive(caller.session);
    if (typeof alive === 'boolean') return alive ? this.#ofVersion(caller, versions) : sessionEnded;
    return alive.then((answer) => (answer ? this.#ofVersion(caller, versions) : sessionEnded));
  }

  #ofVersion(caller: Caller, versions: JwtVersions | null): Caller | string | Promise<Caller | string> {
    if (versions === null) return caller;
    const userId = only(caller, this.#options.userIdClaim ?? 'id');
    const version = only(caller, versions.claim ?? 'version');
    if (userId === null || version === null) return 'The token names no user or no version';
    // One that differs may be newer than what is known: a sign-in right after the change counts.
    if (this.#versions.get(userId) === version) return caller;
    return this.#current(userId, versions).then((current) => (current === version ? caller : 'The token was revoked'));
  }

  async #current(userId: string, { current, cacheSeconds: trust = 5 }: JwtVersions): Promise<string | null> {
    const asked = this.#now();
    const version = await current(userId);
    if (trust > 0 && version !== null) this.#versions.set(userId, version, asked + trust * 1000);
    return version;
  }
}

function rulesOf(options: JwtSchemeOptions, keys: readonly JwtKeyPair[]): JwtRules {
  const { name, jwks = null, type = null, maxTokenAge = null, clockTolerance = 30, requireExpiry = true } = options;
  const { claims = {}, report = () => undefined, now = Date.now } = options;
  const [issuers, audiences] = [listed(options.issuer), listed(options.audience)];
  const rules = { name, keys, jwks, issuers, audiences, clockTolerance, requireExpiry, maxTokenAge, type, claims };
  return Object.freeze({ ...rules, report, now });
}

/** @throws TypeError unless there are keys, of one kind of trust: whoever holds one of them could name any of the issuers */
function requireOneTrust({ name, jwks = null }: JwtSchemeOptions, keys: readonly JwtKeyPair[]): void {
  if (keys.length === 0 && jwks === null) {
    throw new TypeError(`The scheme "${name}" has no key to verify tokens with: give keys or jwks.`);
  }
  if (keys.length > 0 && jwks !== null) {
    throw new TypeError(`The scheme "${name}" has keys of its own and those of an address: make a scheme for each.`);
  }
}

/** Who we are, and whom our tokens are for. */
function named(options: JwtSchemeOptions): JWTPayload {
  const issuer = listed(options.issuer)?.[0];
  const { audience = null } = options;
  return {
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(audience === null ? {} : { aud: typeof audience === 'string' ? audience : [...audience] }),
  };
}

function signer(key: JwtKeyPair): JwtKeyPair {
  if (key.signing !== null) return key;
  throw new TypeError('The signing key of JWTs is a public one: give a secret or a private key.');
}

function listed(value: string | readonly string[] | null | undefined): readonly string[] | null {
  return typeof value === 'string' ? [value] : (value ?? null);
}

/** The one value of a claim: null where there is none, or are several. */
function only({ claims }: Caller, wanted: string): string | null {
  const values = claims.filter(([name]) => name === wanted);
  return values.length === 1 ? values[0]![1] : null;
}

/** @throws TypeError in production */
function warningsOf({ name, issuer, audience, jwks = null, production = true }: JwtSchemeOptions): readonly string[] {
  const faults: string[] = [];
  if (issuer === undefined) faults.push(`The scheme "${name}" takes tokens of any issuer: give issuer, or null.`);
  if (audience === undefined)
    faults.push(`The scheme "${name}" takes tokens for any audience: give audience, or null.`);
  if (jwks !== null && isOpen(parseJwksUrl(jwks.url))) {
    faults.push(
      `The scheme "${name}" reads its keys over an open connection, on which anybody can change them: use https.`,
    );
  }
  if (production && faults.length > 0) throw new TypeError(faults.join('\n'));
  return faults;
}

function isOpen({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
