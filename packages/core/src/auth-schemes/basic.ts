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
} from '../ports/ports.ts';
import { ExpiringMap } from './expiring-map.ts';

export interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

/** What a password is verified with. */
type Verifier = Pick<PasswordHasher, 'verify' | 'verifyDummy'>;

/** Where a request comes from; behind trusted proxies, what these say. */
type OriginReader = (request: GatewayRequest) => { readonly address: string | null; readonly secure: boolean };

/** Whom a command knows. */
export interface ChallengeResult {
  readonly claims: readonly Claim[];
  /** What the password has to be verified against; null: the command has seen to it. */
  readonly hash: string | null;
}

/** Asks the database who this is; null: nobody. What it throws is a failure of the request. */
export type ChallengeCommand = (
  user: string,
  password: string,
  realm: string,
  path: string,
) => Promise<ChallengeResult | null>;

/** What credentials are held against. With neither a user nor a command everything is refused. */
export interface BasicPolicy {
  /** Null: the command alone decides. With both, both must agree. */
  readonly user: { readonly name: string; readonly hash: string } | null;
  /** The claims of the caller; null: the name alone. */
  readonly command: ChallengeCommand | null;
  readonly realm: string;
  readonly path: string;
  readonly hasher: Verifier;
  /** The name of the claim that is the user's name. */
  readonly nameClaim: string;
}

/** Longer than what `node:http` takes by default; such a header is no sign-in. */
const longestHeader = 8 * 1024;

/**
 * The user and the password of an `Authorization` header: base64 of UTF-8, up to the first colon the user (RFC 7617).
 * Null: it is anything else.
 */
export function parseBasicCredentials(header: string | undefined): BasicCredentials | null {
  if (header === undefined || header.length > longestHeader) return null;
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  // One text, one form: neither missing padding nor bits that nobody reads.
  if (bytes.toString('base64') !== encoded) return null;
  const text = utf8(bytes);
  const colon = text?.indexOf(':') ?? -1;
  // oxlint-disable-next-line no-control-regex
  if (text === null || colon === -1 || /[\u0000-\u001f\u007f]/.test(text)) return null;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Who these credentials stand for; null: nobody. Takes as long for an unknown user as for a wrong password.
 * @throws what the command throws
 */
export async function verifyBasicCredentials(
  given: BasicCredentials,
  rule: BasicPolicy,
): Promise<readonly Claim[] | null> {
  const { user, command, hasher, realm, path, nameClaim } = rule;
  if (user !== null) {
    const known = sameText(given.user, user.name);
    if (!known) return refuseSlowly(hasher);
    if (!(await hasher.verify(given.password, user.hash))) return null;
  }
  if (command === null) return user === null ? null : [[nameClaim, given.user]];
  const known = await command(given.user, given.password, realm, path);
  if (known === null) return user === null ? await refuseSlowly(hasher) : null;
  return known.hash === null || (await hasher.verify(given.password, known.hash)) ? known.claims : null;
}

async function refuseSlowly(hasher: Verifier): Promise<null> {
  await hasher.verifyDummy();
  return null;
}

/** Compares in a time that tells nothing of the texts. */
function sameText(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(left!, right!);
}

export interface BasicSchemeOptions extends Omit<BasicPolicy, 'path'> {
  readonly name: string;
  readonly loginRateLimiter: LoginRateLimiter;
  readonly origin: OriginReader;
  /**
   * Seconds for which a verified password need not be verified again, as long as the hash is the same. Callers send it with every
   * request, and a good hash is slow. Default 60; 0: never. A command runs every time in any case.
   */
  readonly cacheSeconds?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** So many verified passwords are remembered at a time. */
const mostRemembered = 1000;

/**
 * HTTP Basic, for the whole gateway or for one endpoint. Nothing is kept with the client: each request brings its credentials.
 * Its `authenticate` throws a Problem for how credentials came, never for what they are: 403 `insecure-transport` when they came
 * neither by TLS nor from this machine, 429 `too-many-attempts` after too many failures.
 */
export function basicScheme(options: BasicSchemeOptions): AuthScheme {
  const { name, realm, user, command, origin, cacheSeconds: remember = 60, now = Date.now } = options;
  const verified = new ExpiringMap<true>(remember > 0 ? mostRemembered : 0, now);
  const attempts = new SharedAttempts(options.loginRateLimiter);
  const secret = randomBytes(32);
  const header = `Basic realm=${quoted(realm)}, charset="UTF-8"`;
  const toCaller = (claims: readonly Claim[]): Caller => ({ scheme: name, claims, session: null, sentByBrowser: true });
  const authenticate = async (request: GatewayRequest): Promise<Caller | null> => {
    const given = parseBasicCredentials(request.header('authorization'));
    if (given === null) return null;
    requireSecureTransport(request, origin);
    const attempt = { user: given.user, address: origin(request).address };
    // What passwords are known by in memory: worthless without a secret that never leaves the process.
    const digest = createHmac('sha256', secret)
      .update(JSON.stringify([attempt.address, given.user, given.password]))
      .digest('base64');
    const wasVerified = (hash: string): boolean => verified.get(`${digest} ${hash}`) === true;
    const hasher: Verifier = {
      verifyDummy: () => options.hasher.verifyDummy(attempt.address),
      verify: async (password, hash) => {
        if (wasVerified(hash)) return true;
        const right = await options.hasher.verify(password, hash, attempt.address);
        if (right) verified.set(`${digest} ${hash}`, true, now() + remember * 1000);
        return right;
      },
    };
    if (user !== null && command === null && wasVerified(user.hash)) return toCaller([[options.nameClaim, given.user]]);
    attempts.begin(digest, attempt);
    let outcome: LoginOutcome = 'failed';
    try {
      const claims = await verifyBasicCredentials(given, { ...options, hasher, path: request.path });
      outcome = claims === null ? 'failed' : 'succeeded';
      return claims === null ? null : toCaller(claims);
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
    // Nobody should be asked for a password where it would be readable on its way.
    challenge: (request: GatewayRequest) => (isPrivate(request, origin) ? header : null),
    signIn: null,
    signOut: null,
    routes: Object.freeze([]),
  });
}

/** @throws Problem 403 `insecure-transport` where a password would be readable on its way */
export function requireSecureTransport(request: GatewayRequest, origin: OriginReader): void {
  if (isPrivate(request, origin)) return;
  throw new Problem('insecure-transport', {
    detail:
      'HTTP Basic is taken by TLS, or from this machine, only. Behind a proxy that ends TLS, the gateway has to trust that proxy and be told the scheme by it.',
  });
}

function isPrivate(request: GatewayRequest, origin: OriginReader): boolean {
  const { address, secure } = origin(request);
  if (secure) return true;
  if (address === null || !/^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/i.test(address)) return false;
  // A neighbour that speaks for somebody else is a proxy: its client may be anywhere.
  return ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via'].every(
    (name) => request.header(name) === undefined,
  );
}

/** As a quoted string of a header: printable ASCII. */
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

/** Login attempts. Concurrent requests with the same password are one attempt, since only other passwords are further guesses. */
class SharedAttempts {
  readonly #limiter: LoginRateLimiter;
  readonly #pending = new Map<string, { requests: number; completed: boolean }>();

  constructor(limiter: LoginRateLimiter) {
    this.#limiter = limiter;
  }

  /** @throws Problem 429 `too-many-attempts` */
  begin(digest: string, attempt: LoginAttempt): void {
    const shared = this.#pending.get(digest);
    if (shared !== undefined) {
      shared.requests += 1;
      return;
    }
    const result = this.#limiter.consume(attempt);
    if (!result.ok) throw new Problem('too-many-attempts', { headers: ['retry-after', String(result.retryAfter)] });
    this.#pending.set(digest, { requests: 1, completed: false });
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
}
