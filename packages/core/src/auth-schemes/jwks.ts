import { createRemoteJWKSet, customFetch, errors, type RemoteJWKSet } from 'jose';
import type { JwtAlgorithm } from './jwt-keys.ts';

/** An address of public keys (a JWKS). Times in seconds. */
export interface JwksOptions {
  /** https; http from this machine, and elsewhere outside production. */
  readonly url: string;
  /** Which algorithms its keys may be for. Default both. */
  readonly algorithms?: readonly Exclude<JwtAlgorithm, 'HS256'>[];
  /** How long an answer may take. Default 5. */
  readonly timeout?: number;
  /** At most so often is asked for a key that nobody knows. Default 30. */
  readonly cooldown?: number;
  /** For how long keys count without being read again: a key that was taken away is gone after that. Default 600. */
  readonly cacheMaxAge?: number;
}

type CryptoKey = Awaited<ReturnType<RemoteJWKSet>>;

export interface TokenHeader {
  readonly alg: string;
  readonly kid?: string;
}

/** An address that did not answer is left alone for so long, in milliseconds. */
const afterFailure = 5000;
const largestAnswer = 256 * 1024;
/** A token without a key id is tried with so many keys. */
const mostCandidates = 8;

/**
 * The keys behind an address. They are read when one is needed, again before they get too old, and when a token names one that is
 * not there: a new key counts at once. Whatever goes wrong is reported and makes no error: there is no key then.
 */
export class RemoteKeys {
  readonly algorithms: readonly string[];
  readonly #keys: RemoteJWKSet;
  readonly #cooldown: number;
  readonly #cacheMaxAge: number;
  readonly #report: (error: Error) => void;
  readonly #now: () => number;
  /** Null: never yet. */
  #readAt: number | null = null;
  /** Nobody asks before. */
  #next = 0;
  #reading: Promise<boolean> | null = null;

  /** @throws TypeError for an address that is none, or has a password in it */
  constructor(options: JwksOptions, report: (error: Error) => void, now: () => number) {
    const { timeout = 5, cooldown = 30, cacheMaxAge = 600, algorithms = ['RS256', 'ES256'] } = options;
    this.algorithms = algorithms;
    this.#cooldown = cooldown * 1000;
    this.#cacheMaxAge = cacheMaxAge * 1000;
    this.#report = report;
    this.#now = now;
    // When to read is decided here, by our clock; jose reads, and finds the key.
    this.#keys = createRemoteJWKSet(parseJwksUrl(options.url), {
      timeoutDuration: Math.ceil(timeout * 1000),
      cooldownDuration: Number.POSITIVE_INFINITY,
      cacheMaxAge: Number.POSITIVE_INFINITY,
      [customFetch]: boundedFetch,
    });
  }

  /** The keys that may have signed a token with this header; several only where it names none. */
  async find(header: TokenHeader): Promise<readonly CryptoKey[]> {
    const age = this.#age();
    if (age >= this.#cacheMaxAge) {
      if (!(await this.#read())) return [];
    } else if (age >= this.#cacheMaxAge / 2) {
      // Nobody has to wait for it, and an address that is away for a moment is not noticed.
      void this.#read();
    }
    const found = await this.#pick(header);
    if (found !== null) return found;
    return (await this.#read()) ? ((await this.#pick(header)) ?? []) : [];
  }

  #age(): number {
    return this.#readAt === null ? Number.POSITIVE_INFINITY : this.#now() - this.#readAt;
  }

  /** Null: no key is the one. */
  async #pick(header: TokenHeader): Promise<readonly CryptoKey[] | null> {
    try {
      return [await this.#keys({ ...header })];
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return null;
      return error instanceof errors.JWKSMultipleMatchingKeys ? firstOf(error) : [];
    }
  }

  /** Whether the keys are new now. One question at a time, and none in the pause after one. */
  #read(): Promise<boolean> {
    if (this.#reading !== null) return this.#reading;
    if (this.#now() < this.#next) return Promise.resolve(false);
    this.#reading = this.#ask().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #ask(): Promise<boolean> {
    try {
      await this.#keys.reload();
      this.#readAt = this.#now();
      this.#next = this.#readAt + this.#cooldown;
      return true;
    } catch (cause) {
      this.#next = this.#now() + afterFailure;
      this.#report(new Error(`The keys of JWTs cannot be read: ${reasonOf(cause)}`, { cause }));
      return false;
    }
  }
}

/** @throws TypeError */
export function parseJwksUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new TypeError('The address of the keys of JWTs has to be a URL of https, without a password.');
}

async function firstOf(keys: AsyncIterable<CryptoKey>): Promise<readonly CryptoKey[]> {
  const found: CryptoKey[] = [];
  for await (const key of keys) {
    found.push(key);
    if (found.length === mostCandidates) break;
  }
  return found;
}

async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).length;
    if (size > largestAnswer) throw new Error(`the answer has more than ${largestAnswer} bytes`);
  }
  if (response.status !== 200) throw new Error(`the answer has status ${response.status}`);
  return new Response(Buffer.concat(chunks));
}

/** fetch says little, and its cause more. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
