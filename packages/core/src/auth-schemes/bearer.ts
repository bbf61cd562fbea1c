import type { GatewayRequest } from '../http/request.ts';
import type { GatewayResponse, HeaderList } from '../http/response.ts';
import { type AuthScheme, type Caller, type Claim, Problem } from '../ports/ports.ts';
import {
  bearerChallenge,
  validateTokenLength,
  hasBearerToken,
  readBearerToken,
  TokenRefusals,
} from './bearer-token.ts';
import {
  type VerifiedToken,
  TokenAuthenticator,
  encodePayload,
  type TokenPayload,
  decodePayload,
} from './token-authenticator.ts';
import { createSession, quoteRealm, validateLifetimes, type SessionSchemeOptions } from './session-scheme.ts';
import { type BearerOptions, bearerOptions } from './options.ts';
import { type Resolved, withDefaults } from '../validation/option.ts';
import { memorySessions, type SessionStore } from './sessions.ts';

export interface BearerSchemeOptions extends SessionSchemeOptions, Omit<BearerOptions, 'name'> {}

/** With their defaults applied. */
type ResolvedOptions = SessionSchemeOptions & Resolved<BearerOptions, 'renewClaims'>;

const credentials = /^Bearer +([\w.~+/-]+=*) *$/i;
const headers: HeaderList = Object.freeze(['content-type', 'application/json', 'cache-control', 'no-store']);

/**
 * Signs in by two encrypted tokens: an access token for requests, and a refresh token for new tokens. A refresh token is valid
 * once. Its second use means that it was stolen, or that the client has sent it twice, and ends the session (RFC 9700, 4.14.2).
 * @throws TypeError for an invalid lifetime or path
 */
export function bearerScheme(options: BearerSchemeOptions): AuthScheme {
  const resolved: ResolvedOptions = {
    ...options,
    ...withDefaults<BearerOptions, 'renewClaims'>(bearerOptions, options),
  };
  const { name, refreshPath: path } = resolved;
  if (!/^\/[^?#\s]*$/.test(path))
    throw new TypeError(`the refresh path ${JSON.stringify(path)} must begin with a slash`);
  const scheme = new BearerScheme(resolved);
  return Object.freeze({
    name,
    authenticate: (request) => scheme.authenticate(request),
    challenge: (request) => scheme.challenge(request),
    refusal: (request) => scheme.refusal(request),
    signIn: async (claims, request) => ({ headers, body: await scheme.signIn(claims, request) }),
    signOut: (request) => scheme.signOut(request),
    routes: Object.freeze([{ method: 'POST', path, handle: (request: GatewayRequest) => scheme.refresh(request) }]),
  } satisfies AuthScheme);
}

type Lifetimes = Record<'accessLifetime' | 'refreshLifetime' | 'sessionLifetime', number>;

class BearerScheme {
  readonly #options: ResolvedOptions;
  readonly #lifetimes: Lifetimes;
  readonly #sessions: SessionStore;
  readonly #authenticator: TokenAuthenticator;
  readonly #accessPurpose: string;
  readonly #refreshPurpose: string;
  readonly #realm: string;
  readonly #refusals = new TokenRefusals();
  readonly #now: () => number;

  constructor(options: ResolvedOptions) {
    const { name, encryption, now = Date.now } = options;
    const { accessLifetime, refreshLifetime, sessionLifetime } = options;
    this.#lifetimes = { accessLifetime, refreshLifetime, sessionLifetime };
    validateLifetimes(name, this.#lifetimes);
    this.#options = options;
    this.#now = now;
    this.#realm = quoteRealm(options.realm);
    this.#accessPurpose = `bearer access ${name}`;
    this.#refreshPurpose = `bearer refresh ${name}`;
    this.#sessions = options.sessions ?? memorySessions({ now });
    const purpose = this.#accessPurpose;
    const sessions = this.#sessions;
    this.#authenticator = new TokenAuthenticator({
      scheme: name,
      sentByBrowser: false,
      encryption,
      purpose,
      sessions,
      now,
    });
  }

  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null> {
    if (!hasBearerToken(request)) return null;
    const token = readBearerToken(request, credentials);
    if (token === null) return this.#refusals.refuse(request, 'The token is malformed');
    const verified = this.#authenticator.authenticate(token);
    if (verified !== null && !(verified instanceof Promise)) return verified.caller;
    return this.#callerOf(request, token, verified);
  }

  async #callerOf(
    request: GatewayRequest,
    token: string,
    verified: Promise<VerifiedToken | null> | null,
  ): Promise<Caller | null> {
    const caller = (await verified)?.caller ?? null;
    if (caller !== null) return caller;
    const isReadable = (await this.#authenticator.read(token)) !== null;
    const reason = isReadable
      ? 'The session of the token has ended'
      : 'The token is not one of this server or has expired';
    return this.#refusals.refuse(request, reason);
  }

  challenge(request: GatewayRequest): string {
    return bearerChallenge(this.#realm, request, this.refusal(request));
  }

  refusal(request: GatewayRequest): string | null {
    return this.#refusals.reason(request);
  }

  async signIn(claims: readonly Claim[], request: GatewayRequest): Promise<string> {
    const issuedAt = this.#seconds();
    const sessionExpires = issuedAt + this.#lifetimes.sessionLifetime;
    const session = createSession(claims, request, sessionExpires, this.#options);
    const answer = await this.#tokens({ session: session.id, claims, issuedAt, sessionExpires, generation: 0 });
    await this.#sessions.begin(session);
    return answer;
  }

  async signOut(request: GatewayRequest): Promise<HeaderList> {
    const token = readBearerToken(request, credentials);
    const payload = token === null ? null : await this.#authenticator.read(token);
    if (token !== null && payload !== null) {
      this.#authenticator.evict(token);
      await this.#sessions.end(payload.session, payload.sessionExpires);
    }
    return ['cache-control', 'no-store'];
  }

  async refresh(request: GatewayRequest): Promise<GatewayResponse> {
    const token = await readRefreshToken(request);
    const payload = decodePayload(await this.#options.encryption.decrypt(this.#refreshPurpose, token));
    if (payload === null || !(await this.#isAlive(payload.session))) throw this.#refusal();
    const { session, sessionExpires, generation } = payload;
    const claims = await this.#claimsOf(payload);
    // Created before the old token is used: after an error here, the client still has a valid token.
    const next = {
      session,
      claims: claims ?? [],
      issuedAt: this.#seconds(),
      sessionExpires,
      generation: generation + 1,
    };
    const body = claims === null ? null : await this.#tokens(next);
    if (body !== null && (await this.#sessions.useRefreshToken(session, generation, sessionExpires))) {
      return { kind: 'whole', status: 200, headers, body };
    }
    await this.#sessions.end(session, sessionExpires);
    throw this.#refusal();
  }

  /** Bypasses the cache: a session that has just ended gets no new tokens. */
  #isAlive(session: string): boolean | Promise<boolean> {
    this.#sessions.invalidate(session);
    return this.#sessions.isAlive(session);
  }

  async #claimsOf({ claims, session }: TokenPayload): Promise<readonly Claim[] | null> {
    const { renewClaims } = this.#options;
    return renewClaims === undefined ? claims : renewClaims(claims, session);
  }

  async #tokens(payload: Omit<TokenPayload, 'expires'>): Promise<string> {
    const { encryption } = this.#options;
    const { issuedAt, sessionExpires, generation } = payload;
    const access = {
      ...payload,
      generation: 0,
      expires: Math.min(issuedAt + this.#lifetimes.accessLifetime, sessionExpires),
    };
    const refresh = {
      ...payload,
      generation,
      expires: Math.min(issuedAt + this.#lifetimes.refreshLifetime, sessionExpires),
    };
    const accessToken = await encryption.encrypt(this.#accessPurpose, encodePayload(access), access.expires);
    validateTokenLength(accessToken);
    return JSON.stringify({
      token_type: 'Bearer',
      access_token: accessToken,
      expires_in: access.expires - issuedAt,
      refresh_token: await encryption.encrypt(this.#refreshPurpose, encodePayload(refresh), refresh.expires),
      refresh_expires_in: refresh.expires - issuedAt,
    });
  }

  #refusal(): Problem {
    return new Problem('unauthenticated', {
      title: 'The refresh token is not valid',
      detail: 'It has expired, was used before, or its session has ended: log in again.',
      headers: ['www-authenticate', `Bearer realm=${this.#realm}, error="invalid_token"`, 'cache-control', 'no-store'],
    });
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

const maxBodyBytes = 32 * 1024;

/**
 * Reads the refresh token from a body like `{"refresh":"…"}`.
 * @throws Problem 400, 413, 415
 */
export async function readRefreshToken(request: GatewayRequest): Promise<string> {
  requirePlainJson(request);
  const body = parse(await request.body(maxBodyBytes));
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('body-not-an-object', { detail: 'Send an object with the key "refresh".' });
  }
  if (!Object.hasOwn(body, 'refresh')) {
    throw new Problem('missing-parameter', { detail: 'The body has no key "refresh".' });
  }
  const { refresh } = body as { readonly refresh: unknown };
  if (typeof refresh === 'string') return refresh;
  throw new Problem('invalid-parameter', { detail: 'The value of "refresh" is not text.' });
}

/** @throws Problem 415 for content types that a form of another site could send */
function requirePlainJson(request: GatewayRequest): void {
  const type = request.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Problem('unsupported-media-type', { detail: 'Send application/json.' });
  const encoding = request.header('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return;
  throw new Problem('unsupported-media-type', { detail: 'A compressed body is not accepted here.' });
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new Problem('malformed-json', { cause });
  }
}
