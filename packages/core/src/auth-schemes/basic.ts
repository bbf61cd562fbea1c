import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { GatewayRequest } from '../http/request.ts';
import {
  type LoginAttempt,
  type LoginRateLimiter,
  type LoginOutcome,
  type AuthScheme,
  type Caller,
  type Claim,
  Problem,
  errorToLoginOutcome,
  type PasswordHasher,
  type RateLimitResult,
} from '../ports/ports.ts';
import { ExpiringMap } from '../cache/expiring-map.ts';
import { TokenRefusals } from './bearer-token.ts';

export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

/** The part of the password hasher that verifies. */
type Verifier = Pick<PasswordHasher, 'verify' | 'verifyDummy'>;

/** Reads the client's address and whether its connection is encrypted. */
type OriginReader = (request: GatewayRequest) => { readonly address: string | null; readonly secure: boolean };

/** The user that a challenge command has found. */
export interface ChallengeResult {
  readonly claims: readonly Claim[];
  /** The hash that the password must match; null: the command has verified the password. */
  readonly hash: string | null;
}

/** Looks up a user in the database; null: unknown. An error fails the request. */
export type ChallengeCommand = (
  user: string,
  password: string,
  realm: string,
  path: string,
) => Promise<ChallengeResult | null>;

/** How credentials are verified. Without a user and a command, all credentials are refused. */
export interface BasicPolicy {
  /** Null: the command alone decides. With a command, both must accept the credentials. */
  readonly user: { readonly name: string; readonly hash: string } | null;
  /** Returns the claims of the caller; null: the only claim is the name. */
  readonly command: ChallengeCommand | null;
  readonly realm: string;
  readonly path: string;
  readonly hasher: Verifier;
  /** The claim with the user's name. */
  readonly nameClaim: string;
}

/** Half of the headers that `node:http` accepts by default. */
const maxHeaderLength = 8 * 1024;

/** Returns user and password of an `Authorization` header (RFC 7617, in UTF-8); null for any other header. */
export function parseBasicCredentials(header: string | undefined): BasicCredentials | null {
  if (header === undefined || header.length > maxHeaderLength) return null;
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  // Only the canonical form: with padding, and without surplus bits.
  if (bytes.toString('base64') !== encoded) return null;
  const text = utf8(bytes);
  const colon = text?.indexOf(':') ?? -1;
  // oxlint-disable-next-line no-control-regex
  if (text === null || colon === -1 || /[\u0000-\u001f\u007f]/.test(text)) return null;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Returns the claims of the credentials; null when they are wrong. Takes as long for an unknown user as for a wrong password.
 * @throws the errors of the command
 */
export async function verifyBasicCredentials(
  credentials: BasicCredentials,
  policy: BasicPolicy,
): Promise<readonly Claim[] | null> {
  const { user, command, hasher, realm, path, nameClaim } = policy;
  if (user !== null) {
    if (!equalsInConstantTime(credentials.user, user.name)) return verifyDummy(hasher);
    if (!(await hasher.verify(credentials.password, user.hash))) return null;
  }
  if (command === null) return user === null ? null : [[nameClaim, credentials.user]];
  const found = await command(credentials.user, credentials.password, realm, path);
  if (found === null) return user === null ? await verifyDummy(hasher) : null;
  return found.hash === null || (await hasher.verify(credentials.password, found.hash)) ? found.claims : null;
}

async function verifyDummy(hasher: Verifier): Promise<null> {
  await hasher.verifyDummy();
  return null;
}

function equalsInConstantTime(first: string, second: string): boolean {
  const [left, right] = [first, second].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left!, right!);
}

export interface BasicSchemeOptions extends Omit<BasicPolicy, 'path'> {
  readonly name: string;
  readonly loginRateLimiter: LoginRateLimiter;
  readonly origin: OriginReader;
  /**
   * Seconds for which a verified password is cached, because clients send it with every request and hashing is slow. Default 60; 0:
   * no cache. A command runs for each request.
   */
  readonly cacheSeconds?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const maxCachedPasswords = 1000;
const malformed = 'The credentials are malformed';
const wrongCredentials = 'The user name or the password is wrong';

/**
 * HTTP Basic, for the whole gateway or for one endpoint. `authenticate` throws no Problem for wrong credentials, but 403
 * `insecure-transport` for credentials without TLS from another machine, and 429 `too-many-attempts` after too many failures.
 */
export function basicScheme(options: BasicSchemeOptions): AuthScheme {
  const { name, realm, user, command, origin, cacheSeconds = 60, now = Date.now } = options;
  const verified = new ExpiringMap<true>(cacheSeconds > 0 ? maxCachedPasswords : 0, now);
  const attempts = new SharedAttempts(options.loginRateLimiter);
  const secret = randomBytes(32);
  const header = `Basic realm=${quoted(realm)}, charset="UTF-8"`;
  const refusals = new TokenRefusals();
  const toCaller = (claims: readonly Claim[]): Caller => ({ scheme: name, claims, session: null, sentByBrowser: true });
  const authenticate = async (request: GatewayRequest): Promise<Caller | null> => {
    const credentials = parseBasicCredentials(request.header('authorization'));
    if (credentials === null) return hasBasicCredentials(request) ? refusals.refuse(request, malformed) : null;
    requireSecureTransport(request, origin);
    const attempt = { user: credentials.user, address: origin(request).address };
    // The key of the password in memory: useless without the secret, which never leaves the process.
    const digest = createHmac('sha256', secret)
      .update(JSON.stringify([attempt.address, credentials.user, credentials.password]))
      .digest('base64');
    const wasVerified = (hash: string): boolean => verified.get(`${digest} ${hash}`) === true;
    const hasher: Verifier = {
      verifyDummy: () => options.hasher.verifyDummy(attempt.address),
      verify: async (password, hash) => {
        if (wasVerified(hash)) return true;
        const right = await options.hasher.verify(password, hash, attempt.address);
        if (right) verified.set(`${digest} ${hash}`, true, now() + cacheSeconds * 1000);
        return right;
      },
    };
    if (user !== null && command === null && wasVerified(user.hash))
      return toCaller([[options.nameClaim, credentials.user]]);
    await attempts.begin(digest, attempt);
    let outcome: LoginOutcome = 'failed';
    try {
      const claims = await verifyBasicCredentials(credentials, { ...options, hasher, path: request.path });
      outcome = claims === null ? 'failed' : 'succeeded';
      return claims === null ? refusals.refuse(request, wrongCredentials) : toCaller(claims);
    } catch (error) {
      outcome = errorToLoginOutcome(error);
      throw error;
    } finally {
      attempts.end(digest, attempt, outcome);
    }
  };
  return Object.freeze({
    name,
    authenticate,
    refusal: (request: GatewayRequest) => refusals.reason(request),
    // No challenge on an unencrypted connection: it would make browsers send the password.
    challenge: (request: GatewayRequest) => (isSecure(request, origin) ? header : null),
    signIn: null,
    signOut: null,
    routes: Object.freeze([]),
  });
}

/** Whether the request has Basic credentials of any form. */
function hasBasicCredentials(request: GatewayRequest): boolean {
  return /^basic\b/i.test(request.header('authorization') ?? '');
}

/** @throws Problem 403 `insecure-transport` for an unencrypted connection from another machine */
export function requireSecureTransport(request: GatewayRequest, origin: OriginReader): void {
  if (isSecure(request, origin)) return;
  throw new Problem('insecure-transport', {
    detail:
      'HTTP Basic needs TLS, or a client on this machine. Behind a proxy that ends TLS, add the proxy to trustedProxies and let it send X-Forwarded-Proto.',
  });
}

function isSecure(request: GatewayRequest, origin: OriginReader): boolean {
  const { address, secure } = origin(request);
  if (secure) return true;
  if (address === null || !/^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i.test(address)) return false;
  // A local proxy: its client may be on another machine.
  return ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via'].every(
    (name) => request.header(name) === undefined,
  );
}

/** Returns a quoted string of printable ASCII (RFC 9110, 5.6.4). */
function quoted(text: string): string {
  return `"${text.replaceAll(/[^ -~]/gu, '?').replaceAll(/["\\]/g, '\\$&')}"`;
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

interface PendingAttempt {
  readonly result: RateLimitResult | Promise<RateLimitResult>;
  requests: number;
  completed: boolean;
}

/** Login attempts. Concurrent requests with the same password are one attempt, since only other passwords are further guesses. */
class SharedAttempts {
  readonly #limiter: LoginRateLimiter;
  readonly #pending = new Map<string, PendingAttempt>();

  constructor(limiter: LoginRateLimiter) {
    this.#limiter = limiter;
  }

  /** @throws Problem 429 `too-many-attempts` */
  async begin(digest: string, attempt: LoginAttempt): Promise<void> {
    const shared = this.#pending.get(digest) ?? this.#consume(digest, attempt);
    shared.requests += 1;
    let isAllowed = false;
    try {
      const result = await shared.result;
      if (!result.ok) throw new Problem('too-many-attempts', { headers: ['retry-after', String(result.retryAfter)] });
      isAllowed = true;
    } finally {
      // The limiter of a host may reject, too: later requests ask it again.
      if (!isAllowed) this.#release(digest, shared);
    }
  }

  end(digest: string, attempt: LoginAttempt, outcome: LoginOutcome): void {
    const shared = this.#pending.get(digest)!;
    shared.requests -= 1;
    if (!shared.completed && (outcome !== 'aborted' || shared.requests === 0)) {
      shared.completed = true;
      this.#limiter.complete(attempt, outcome);
    }
    if (shared.requests === 0) this.#pending.delete(digest);
  }

  #consume(digest: string, attempt: LoginAttempt): PendingAttempt {
    const shared = { result: this.#limiter.consume(attempt), requests: 0, completed: false };
    this.#pending.set(digest, shared);
    return shared;
  }

  #release(digest: string, shared: PendingAttempt): void {
    shared.requests -= 1;
    if (shared.requests === 0) this.#pending.delete(digest);
  }
}
