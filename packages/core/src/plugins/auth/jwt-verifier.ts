import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';

import type { Caller } from '../../pipeline/ports.ts';
import { type JwksOptions, RemoteKeys, type TokenHeader } from './jwks.ts';
import { type ClaimPaths, claimsOf } from './jwt-claims.ts';
import type { JwtKeyPair } from './jwt-keys.ts';

/** What tokens have to fulfil. Times in seconds. */
export interface JwtRules {
  readonly name: string;
  readonly keys: readonly JwtKeyPair[];
  readonly jwks: JwksOptions | null;
  /** Null: anybody whose key is known. */
  readonly issuers: readonly string[] | null;
  /** Null: whomever it is for. */
  readonly audiences: readonly string[] | null;
  readonly clockTolerance: number;
  readonly requireExpiry: boolean;
  readonly maximalAge: number | null;
  readonly type: string | null;
  readonly claims: ClaimPaths;
  readonly report: (error: Error) => void;
  readonly now: () => number;
}

/** What a token that counts stands for. */
export interface Verified {
  readonly caller: Caller;
  /** Seconds since 1970. */
  readonly expires: number;
}

type Key = Parameters<typeof jwtVerify>[1];

const longestSession = 256;

/** Holds tokens against keys and rules. */
export class JwtVerifier {
  readonly #rules: JwtRules;
  readonly #remote: RemoteKeys | null;

  /** @throws TypeError for an address of keys that is none */
  constructor(rules: JwtRules) {
    this.#rules = rules;
    this.#remote = rules.jwks === null ? null : new RemoteKeys(rules.jwks, rules.report, rules.now);
  }

  /** Null: it does not count, for whatever reason. Never throws. */
  async verify(token: string): Promise<Verified | null> {
    const header = this.#headerOf(token);
    if (header === null) return null;
    const own = this.#rules.keys.filter((key) => mayHaveSigned(key, header)).map(({ verifying }) => verifying);
    const verified = await this.#verifyWith(own, token, header);
    if (verified !== null || this.#remote?.algorithms.includes(header.alg) !== true) return verified;
    return this.#verifyWith(await this.#remote.find(header), token, header);
  }

  /** Null: by what it says itself, the token is for none of our keys; nobody is asked for a key then. */
  #headerOf(token: string): TokenHeader | null {
    const { issuers } = this.#rules;
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      const { iss = '' } = decodeJwt(token);
      if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return null;
      if (issuers?.includes(iss) === false) return null;
      return kid === undefined ? { alg } : { alg, kid };
    } catch {
      return null;
    }
  }

  /** The keys are for the algorithm of the header: nothing else is tried with them. */
  async #verifyWith(keys: readonly Key[], token: string, { alg }: TokenHeader): Promise<Verified | null> {
    for (const key of keys) {
      try {
        // One of them at most is right.
        // oxlint-disable-next-line no-await-in-loop
        const { payload } = await jwtVerify(token, key, this.#options(alg));
        return this.#read(payload);
      } catch {
        // Forged, expired, for somebody else, damaged: whatever a client sends is answered alike.
      }
    }
    return null;
  }

  #options(algorithm: string): JWTVerifyOptions {
    const { issuers, audiences, type, maximalAge, clockTolerance, requireExpiry, now } = this.#rules;
    return {
      algorithms: [algorithm],
      ...(issuers === null ? {} : { issuer: [...issuers] }),
      ...(audiences === null ? {} : { audience: [...audiences] }),
      ...(type === null ? {} : { typ: type }),
      ...(maximalAge === null ? {} : { maxTokenAge: maximalAge }),
      requiredClaims: requireExpiry ? ['exp'] : [],
      clockTolerance,
      currentDate: new Date(now()),
    };
  }

  #read(payload: JWTPayload): Verified | null {
    const { name, claims, clockTolerance, maximalAge } = this.#rules;
    const { jti, exp = Number.POSITIVE_INFINITY, iat = 0 } = payload;
    if (jti !== undefined && (typeof jti !== 'string' || jti === '' || jti.length > longestSession)) return null;
    const caller = { scheme: name, claims: claimsOf(payload, claims), session: jti ?? null, ambient: false };
    const end = maximalAge === null ? exp : Math.min(exp, iat + maximalAge);
    return Object.freeze({ caller: Object.freeze(caller), expires: end + clockTolerance });
  }
}

function mayHaveSigned(key: JwtKeyPair, { alg, kid }: TokenHeader): boolean {
  return key.algorithm === alg && (key.id === null || kid === undefined || key.id === kid);
}
