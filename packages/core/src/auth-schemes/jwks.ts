import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  jwksCache,
  type JWKSCacheInput,
  type RemoteJWKSet,
} from 'jose';
import { withDefaults } from '../validation/option.ts';
import { type JwksOptions, jwksOptions } from './options.ts';
import { fetchFailure } from './fetch-failure.ts';

type CryptoKey = Awaited<ReturnType<RemoteJWKSet>>;

export interface TokenHeader {
  readonly alg: string;
  readonly kid?: string;
}

/** The pause after a failed request, in milliseconds. */
const retryDelayMs = 5000;
const maxResponseBytes = 256 * 1024;
/** The maximum number of keys that are tried for a token without a key id. */
const maxCandidates = 8;

/**
 * The public keys behind a URL. jose caches them and limits the requests for unknown key ids. Added here, because jose has neither:
 * a pause after failures, so that requests do not wait for an unavailable issuer, and a refresh in the background.
 */
export class RemoteKeys {
  readonly algorithms: readonly string[];
  readonly #keys: RemoteJWKSet;
  readonly #cache: JWKSCacheInput = {};
  readonly #refreshAge: number;
  readonly #report: (error: Error) => void;
  #retryAt = 0;

  /** @throws TypeError for an invalid URL, or one with a password */
  constructor(options: JwksOptions, report: (error: Error) => void) {
    const { timeout, cooldown, cacheMaxAge, algorithms } = withDefaults(jwksOptions, options);
    this.algorithms = algorithms;
    this.#refreshAge = (cacheMaxAge * 1000) / 2;
    this.#report = report;
    this.#keys = createRemoteJWKSet(parseJwksUrl(options.url), {
      timeoutDuration: Math.ceil(timeout * 1000),
      cooldownDuration: cooldown * 1000,
      cacheMaxAge: cacheMaxAge * 1000,
      [jwksCache]: this.#cache,
      [customFetch]: (url, init) => this.#fetch(url, init),
    });
  }

  /** Returns the keys that may have signed a token with this header: several only for a header without a key id. */
  async find(header: TokenHeader): Promise<readonly CryptoKey[]> {
    if (this.#keys.fresh && Date.now() - (this.#cache.uat ?? 0) >= this.#refreshAge) {
      // A failure is reported already; the cached keys stay valid until their maximum age.
      this.#keys.reload().catch(() => undefined);
    }
    try {
      return [await this.#keys({ ...header })];
    } catch (error) {
      // Otherwise the keys could not be read, or the one with this id is unknown or invalid.
      return error instanceof errors.JWKSMultipleMatchingKeys ? firstKeys(error) : [];
    }
  }

  /** Reports a failure once, however many requests wait for the response. */
  async #fetch(url: string, init: RequestInit): Promise<Response> {
    if (Date.now() < this.#retryAt) throw new Error('the pause after a failure is not over');
    try {
      const keys = await fetchKeys(url, init);
      return Response.json(keys);
    } catch (error) {
      this.#retryAt = Date.now() + retryDelayMs;
      this.#report(new Error(`cannot read the JWT keys: ${fetchFailure(error)}`, { cause: error }));
      throw error;
    }
  }
}

/** @throws TypeError */
export function parseJwksUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new TypeError('The address of the keys of JWTs has to be a URL of https, without a password.');
}

async function firstKeys(keys: AsyncIterable<CryptoKey>): Promise<readonly CryptoKey[]> {
  const found: CryptoKey[] = [];
  for await (const key of keys) {
    found.push(key);
    if (found.length === maxCandidates) break;
  }
  return found;
}

/** @throws Error for a status other than 200, a body above the limit, and a body that is not a set of keys */
async function fetchKeys(url: string, init: RequestInit): Promise<JSONWebKeySet> {
  const response = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).length;
    if (size > maxResponseBytes) throw new Error(`the response has more than ${maxResponseBytes} bytes`);
  }
  if (response.status !== 200) throw new Error(`the response has status ${response.status}`);
  const keys = JSON.parse(Buffer.concat(chunks).toString()) as JSONWebKeySet;
  createLocalJWKSet(keys);
  return keys;
}
