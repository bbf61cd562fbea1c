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
import { ExpiringMap } from '../cache/expiring-map.ts';
import { TokenCache } from './token-cache.ts';
import { parseJwksUrl } from './jwks.ts';
import { type Resolved, withDefaults } from '../validation/option.ts';
import { type JwtOptions, jwtOptions, type JwtVersions } from './options.ts';
import { createPayload } from './jwt-claims.ts';
import { type JwtKeyPair, parseJwtKey } from './jwt-keys.ts';
import { type JwtRules, JwtVerifier, unsigned, type VerifiedJwt } from './jwt-verifier.ts';
import { createSession, quoteRealm, validateLifetimes, type SessionSchemeOptions } from './session-scheme.ts';
import { memorySessions, type SessionStore } from './sessions.ts';

export interface JwtSchemeOptions
  extends Omit<SessionSchemeOptions, 'encryption'>, Omit<JwtOptions, keyof SessionSchemeOptions> {}

type WithoutDefault = 'userIdClaim' | 'userNameClaim' | 'address' | 'issuer' | 'audience' | 'sessions' | 'report';

/** With their defaults applied. */
type ResolvedOptions = Omit<SessionSchemeOptions, 'encryption'> & Resolved<JwtOptions, WithoutDefault>;

export interface JwtScheme extends AuthScheme {
  /** Warnings for the log at start. */
  readonly warnings: readonly string[];
}

/** Returns what is wrong with the form of the token of a request that has `Bearer`. */
function formFault(request: GatewayRequest): string {
  const token = (request.header('authorization') ?? '').slice('Bearer'.length).trim();
  if (token === '') return 'The token is empty';
  const parts = token.split('.').length;
  if (/^[\w-]+\.[\w-]+\.$/.test(token)) return unsigned;
  return parts === 3 || !/^[\w.-]{1,1000}$/.test(token)
    ? 'The token is malformed'
    : `A token has 3 parts, and not ${parts}`;
}

/** Three parts, the last one not empty. Other tokens belong to other schemes. */
const credentials = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;
const mostVersions = 10_000;
const sessionEnded = 'The session of the token has ended';
/** A scheme that signs tokens ends their sessions: a token that another program signs with the same key has none. */
const noSession = 'The token has no session in jti, as those of the login endpoint have';

/**
 * Authenticates callers by signed tokens (JWT; HS256, RS256, ES256) of this server or of an issuer. Each key is for one algorithm,
 * whatever the header of a token says.
 * @throws TypeError for a missing or weak key, and in production for a missing issuer or audience
 */
export function jwtScheme(options: JwtSchemeOptions): JwtScheme {
  const scheme = new Jwt({ ...options, ...withDefaults<JwtOptions, WithoutDefault>(jwtOptions, options) });
  return Object.freeze({
    name: options.name,
    warnings: scheme.warnings,
    authenticate: (request) => scheme.authenticate(request),
    challenge: (request) => scheme.challenge(request),
    refusal: (request) => scheme.refusal(request),
    signIn: scheme.canSign ? (claims, request) => scheme.signIn(claims, request) : null,
    signOut: (request) => scheme.signOut(request),
    routes: [],
  } satisfies JwtScheme);
}

class Jwt {
  readonly warnings: readonly string[];
  readonly canSign: boolean;
  readonly #options: ResolvedOptions;
  readonly #signing: JwtKeyPair | null;
  readonly #verifier: JwtVerifier;
  readonly #sessions: SessionStore;
  readonly #cache: TokenCache<VerifiedJwt>;
  readonly #versions: ExpiringMap<string>;
  readonly #realm: string;
  readonly #refusals = new TokenRefusals();
  readonly #now: () => number;

  constructor(options: ResolvedOptions) {
    const { now = Date.now, lifetime, maxTokenAge, keys, signingKey } = options;
    validateLifetimes(options.name, { lifetime, maxTokenAge });
    this.warnings = warningsOf(options);
    this.#options = options;
    this.#now = now;
    this.#realm = quoteRealm(options.realm);
    this.#signing = signingKey === null ? null : requirePrivateKey(parseJwtKey(signingKey));
    this.canSign = this.#signing !== null;
    const allKeys = [...keys.map(parseJwtKey), ...(this.#signing === null ? [] : [this.#signing])];
    requireOneSource(options, allKeys);
    this.#verifier = new JwtVerifier(rulesOf(options, allKeys));
    this.#sessions = options.sessions ?? memorySessions({ now });
    this.#cache = new TokenCache(now);
    this.#versions = new ExpiringMap(mostVersions, now);
  }

  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null> {
    if (!hasBearerToken(request)) return null;
    const token = readBearerToken(request, credentials);
    if (token === null) return this.#refusals.refuse(request, formFault(request));
    const cached = this.#cache.get(token);
    const result = cached === undefined ? this.#verify(token) : this.#checkCaller(cached.caller);
    return result instanceof Promise
      ? result.then((callerOrReason) => this.#callerOrNull(request, callerOrReason))
      : this.#callerOrNull(request, result);
  }

  #callerOrNull(request: GatewayRequest, result: Caller | string): Caller | null {
    return typeof result === 'string' ? this.#refusals.refuse(request, result) : result;
  }

  challenge(request: GatewayRequest): string {
    return bearerChallenge(this.#realm, request, this.refusal(request));
  }

  refusal(request: GatewayRequest): string | null {
    return this.#refusals.reason(request);
  }

  async signIn(claims: readonly Claim[], request: GatewayRequest): Promise<{ headers: HeaderList; body: string }> {
    const { lifetime, claims: paths } = this.#options;
    const { algorithm, id, signing } = this.#signing!;
    const issued = Math.floor(this.#now() / 1000);
    const session = createSession(claims, request, issued + lifetime, this.#options);
    const payload = { ...createPayload(claims, paths), ...issuerAndAudience(this.#options) };
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

  /** Here and below, a string is the reason why the token is refused. */
  async #verify(token: string): Promise<Caller | string> {
    const verified = await this.#verifier.verify(token);
    if (typeof verified === 'string') return verified;
    this.#cache.set(token, verified, verified.expires);
    return this.#checkCaller(verified.caller);
  }

  /** Checks session and version, which may change during the lifetime of a token. */
  #checkCaller(caller: Caller): Caller | string | Promise<Caller | string> {
    const { versions, sessions } = this.#options;
    if (caller.session === null) {
      return sessions === undefined ? this.#checkVersion(caller, versions) : noSession;
    }
    const alive = this.#sessions.isAlive(caller.session);
    if (typeof alive === 'boolean') return alive ? this.#checkVersion(caller, versions) : sessionEnded;
    return alive.then((isAlive) => (isAlive ? this.#checkVersion(caller, versions) : sessionEnded));
  }

  #checkVersion(caller: Caller, versions: JwtVersions | null): Caller | string | Promise<Caller | string> {
    if (versions === null) return caller;
    const userId = singleClaim(caller, this.#options.userIdClaim ?? 'id');
    const version = singleClaim(caller, versions.claim ?? 'version');
    if (userId === null || version === null) return 'The token names no user or no version';
    // A different version may be newer than the cached one, after a login right after the change.
    if (this.#versions.get(userId) === version) return caller;
    return this.#currentVersion(userId, versions).then((current) =>
      current === version ? caller : 'The token was revoked',
    );
  }

  async #currentVersion(userId: string, { current, cacheSeconds = 5 }: JwtVersions): Promise<string | null> {
    const askedAt = this.#now();
    const version = await current(userId);
    if (cacheSeconds > 0 && version !== null) this.#versions.set(userId, version, askedAt + cacheSeconds * 1000);
    return version;
  }
}

/** Returns null for a scheme without logins. */
function ownIssuerOf({ signingKey }: ResolvedOptions, issuers: readonly string[] | null): JwtRules['ownIssuer'] {
  return signingKey === null ? null : issuers?.[0];
}

function rulesOf(options: ResolvedOptions, keys: readonly JwtKeyPair[]): JwtRules {
  const { name, jwks, type, maxTokenAge, clockTolerance, requireExpiry } = options;
  const { claims, userIdClaim = 'id', report = () => undefined, now = Date.now } = options;
  const [issuers, audiences] = [toArray(options.issuer), toArray(options.audience)];
  const ownIssuer = ownIssuerOf(options, issuers);
  const rules = { name, keys, jwks, issuers, ownIssuer, audiences, clockTolerance, requireExpiry, maxTokenAge, type };
  const apiKeys = new Set(options.apiKeys);
  return Object.freeze({ ...rules, apiKeys, claims, userIdClaim, report, now });
}

/** @throws TypeError without keys, and for keys from both sources: each key would be trusted for all issuers */
function requireOneSource({ name, jwks }: ResolvedOptions, keys: readonly JwtKeyPair[]): void {
  if (keys.length === 0 && jwks === null) {
    throw new TypeError(`the scheme "${name}" has no key to verify tokens; give keys or jwks`);
  }
  if (keys.length > 0 && jwks !== null) {
    throw new TypeError(`the scheme "${name}" has both keys and jwks; make a scheme for each`);
  }
}

/** Returns issuer and audience of the tokens of logins. */
function issuerAndAudience(options: ResolvedOptions): JWTPayload {
  const issuer = toArray(options.issuer)?.[0];
  const { audience = null } = options;
  return {
    ...(issuer === undefined ? {} : { iss: issuer }),
    ...(audience === null ? {} : { aud: typeof audience === 'string' ? audience : [...audience] }),
  };
}

function requirePrivateKey(key: JwtKeyPair): JwtKeyPair {
  if (key.signing !== null) return key;
  throw new TypeError('the JWT signing key is a public key; give a secret or a private key');
}

function toArray(value: string | readonly string[] | null | undefined): readonly string[] | null {
  return typeof value === 'string' ? [value] : (value ?? null);
}

/** Returns the value of a claim; null when there is none, or several. */
function singleClaim({ claims }: Caller, claim: string): string | null {
  const values = claims.filter(([name]) => name === claim);
  return values.length === 1 ? values[0]![1] : null;
}

/** @throws TypeError in production */
function warningsOf({ name, issuer, audience, jwks, production }: ResolvedOptions): readonly string[] {
  const faults: string[] = [];
  if (issuer === undefined) faults.push(`the scheme "${name}" accepts tokens of any issuer; give issuer, or null`);
  if (audience === undefined)
    faults.push(`the scheme "${name}" accepts tokens for any audience; give audience, or null`);
  if (jwks !== null && isUnencrypted(parseJwksUrl(jwks.url))) {
    faults.push(
      `the scheme "${name}" reads its keys over an unencrypted connection, where they can be replaced; use https`,
    );
  }
  if (production && faults.length > 0) throw new TypeError(faults.join('\n'));
  return faults;
}

function isUnencrypted({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
