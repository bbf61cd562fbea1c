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
import {
  defaultCacheSize,
  createSession,
  quoteRealm,
  validateLifetimes,
  type SessionSchemeOptions,
} from './session-scheme.ts';
import { memorySessions, type SessionStore } from './sessions.ts';

export interface BearerSchemeOptions extends SessionSchemeOptions {
  /** Seconds. Default an hour. */
  readonly accessLifetime?: number;
  /** Seconds. Default 14 days. */
  readonly refreshLifetime?: number;
  /** Seconds from sign-in on in which tokens can be refreshed: the session ends then. Default 90 days. */
  readonly sessionLifetime?: number;
  /** Default `/api/auth/refresh`. */
  readonly refreshPath?: string;
  /**
   * The claims that the refreshed tokens say. Null: the user may not go on, the session ends. Default: those of the sign-in.
   */
  readonly renewClaims?: (claims: readonly Claim[], session: string) => Promise<readonly Claim[] | null>;
}

const day = 86_400;
const credentials = /^Bearer +([\w.~+/-]+=*) *$/i;
const headers: HeaderList = Object.freeze(['content-type', 'application/json', 'cache-control', 'no-store']);

/**
 * Signs in by two tokens that nobody but us can read: one to be sent with requests, one to get the next two with. A refresh
 * token counts once: when it comes a second time it was stolen before or after, and the session ends with all its tokens. That
 * is also so for a client that never got the answer to its refresh, or that sent it twice at once: it has to sign in again.
 * @throws TypeError for a time or path that makes no sense
 */
export function bearerScheme(options: BearerSchemeOptions): AuthScheme {
  const { name, refreshPath: path = '/api/auth/refresh' } = options;
  if (!/^\/[^?#\s]*$/.test(path))
    throw new TypeError(`The refresh path ${JSON.stringify(path)} has to begin with a slash.`);
  const scheme = new BearerScheme(options);
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
  readonly #options: BearerSchemeOptions;
  readonly #lifetimes: Lifetimes;
  readonly #sessions: SessionStore;
  readonly #recognizer: TokenAuthenticator;
  readonly #accessPurpose: string;
  readonly #refreshPurpose: string;
  readonly #realm: string;
  readonly #refusals = new TokenRefusals();
  readonly #now: () => number;

  constructor(options: BearerSchemeOptions) {
    const { name, encryption, now = Date.now, cacheSize = defaultCacheSize } = options;
    const { accessLifetime = 3600, refreshLifetime = 14 * day, sessionLifetime = 90 * day } = options;
    this.#lifetimes = { accessLifetime, refreshLifetime, sessionLifetime };
    validateLifetimes(name, this.#lifetimes);
    this.#options = options;
    this.#now = now;
    this.#realm = quoteRealm(options);
    this.#accessPurpose = `bearer access ${name}`;
    this.#refreshPurpose = `bearer refresh ${name}`;
    this.#sessions = options.sessions ?? memorySessions({ now });
    const purpose = this.#accessPurpose;
    const sessions = this.#sessions;
    this.#recognizer = new TokenAuthenticator({
      scheme: name,
      sentByBrowser: false,
      encryption,
      purpose,
      sessions,
      cacheSize,
      now,
    });
  }

  authenticate(request: GatewayRequest): Caller | null | Promise<Caller | null> {
    if (!hasBearerToken(request)) return null;
    const token = readBearerToken(request, credentials);
    if (token === null) return this.#refusals.refuse(request, 'The token is malformed');
    const recognized = this.#recognizer.authenticate(token);
    if (recognized !== null && !(recognized instanceof Promise)) return recognized.caller;
    return this.#callerOf(request, token, recognized);
  }

  async #callerOf(
    request: GatewayRequest,
    token: string,
    recognized: Promise<VerifiedToken | null> | null,
  ): Promise<Caller | null> {
    const caller = (await recognized)?.caller ?? null;
    if (caller !== null) return caller;
    const isReadable = (await this.#recognizer.read(token)) !== null;
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
    const ticket = token === null ? null : await this.#recognizer.read(token);
    if (token !== null && ticket !== null) {
      this.#recognizer.evict(token);
      await this.#sessions.end(ticket.session, ticket.sessionExpires);
    }
    return ['cache-control', 'no-store'];
  }

  async refresh(request: GatewayRequest): Promise<GatewayResponse> {
    const token = await readRefreshToken(request);
    const ticket = decodePayload(await this.#options.encryption.decrypt(this.#refreshPurpose, token));
    if (ticket === null || !(await this.#isAlive(ticket.session))) throw this.#refusal();
    const { session, sessionExpires, generation } = ticket;
    const claims = await this.#claimsOf(ticket);
    // Made before the old one is used up: what fails here leaves the client a token that still counts.
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

  /** Asked anew: a session that has just ended gets no new tokens. */
  #isAlive(session: string): boolean | Promise<boolean> {
    this.#sessions.invalidate(session);
    return this.#sessions.isAlive(session);
  }

  async #claimsOf({ claims, session }: TokenPayload): Promise<readonly Claim[] | null> {
    const { renewClaims } = this.#options;
    return renewClaims === undefined ? claims : renewClaims(claims, session);
  }

  async #tokens(ticket: Omit<TokenPayload, 'expires'>): Promise<string> {
    const { encryption } = this.#options;
    const { issuedAt, sessionExpires, generation } = ticket;
    const access = {
      ...ticket,
      generation: 0,
      expires: Math.min(issuedAt + this.#lifetimes.accessLifetime, sessionExpires),
    };
    const refresh = {
      ...ticket,
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
      detail: 'It has expired, was used before, or its session has ended: sign in again.',
      headers: ['www-authenticate', `Bearer realm=${this.#realm}, error="invalid_token"`, 'cache-control', 'no-store'],
    });
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

const longestBody = 32 * 1024;

/**
 * The refresh token out of a body like `{"refresh":"…"}`.
 * @throws Problem 400, 413, 415
 */
export async function readRefreshToken(request: GatewayRequest): Promise<string> {
  requirePlainJson(request);
  const document = parse(await request.body(longestBody));
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new Problem('body-not-an-object', { detail: 'Send an object with the key "refresh".' });
  }
  if (!Object.hasOwn(document, 'refresh')) {
    throw new Problem('missing-parameter', { detail: 'The body has no key "refresh".' });
  }
  const { refresh } = document as { readonly refresh: unknown };
  if (typeof refresh === 'string') return refresh;
  throw new Problem('invalid-parameter', { detail: 'The value of "refresh" is not text.' });
}

/** What a form of another site can send is refused. */
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
