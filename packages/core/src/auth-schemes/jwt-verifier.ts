import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';

import type { Caller } from '../ports/ports.ts';
import { type JwksOptions, RemoteKeys, type TokenHeader } from './jwks.ts';
import { type ClaimPaths, readClaims } from './jwt-claims.ts';
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
  readonly maxTokenAge: number | null;
  readonly type: string | null;
  readonly claims: ClaimPaths;
  readonly report: (error: Error) => void;
  readonly now: () => number;
}

/** What a token that counts stands for. */
export interface VerifiedJwt {
  readonly caller: Caller;
  /** Seconds since 1970. */
  readonly expires: number;
}

type Key = Parameters<typeof jwtVerify>[1];

const longestSession = 256;

const malformed = 'The token is malformed';
const otherIssuer = 'The token is from another issuer';
const wrongSignature = 'The signature of the token is not valid';

const failedClaims: Readonly<Record<string, string>> = {
  aud: 'The token is for another audience',
  iss: otherIssuer,
  nbf: 'The token is not valid yet',
  exp: 'The token has no expiry',
  iat: 'The token does not say when it was issued, or not rightly',
  typ: 'The token is of another type',
};

function refusalOf(error: unknown): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return wrongSignature;
  if (error instanceof errors.JWTExpired)
    return error.claim === 'iat' ? 'The token is too old' : 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return failedClaims[error.claim] ?? malformed;
  return malformed;
}

/** Holds tokens against keys and rules. */
export class JwtVerifier {
  readonly #rules: JwtRules;
  readonly #remote: RemoteKeys | null;

  /** @throws TypeError for an address of keys that is none */
  constructor(rules: JwtRules) {
    this.#rules = rules;
    this.#remote = rules.jwks === null ? null : new RemoteKeys(rules.jwks, rules.report);
  }

  /** What the token stands for; a text: why it is refused. Never throws. */
  async verify(token: string): Promise<VerifiedJwt | string> {
    const header = this.#headerOf(token);
    if (typeof header === 'string') return header;
    const own = this.#rules.keys.filter((key) => mayHaveSigned(key, header)).map(({ verifying }) => verifying);
    const verdict = await this.#verifyWith(own, token, header);
    if (typeof verdict !== 'string' || this.#remote?.algorithms.includes(header.alg) !== true) return verdict;
    return this.#verifyWith(await this.#remote.find(header), token, header);
  }

  /** A text: by what it says itself, the token is for none of the known keys, and no address is asked for one. */
  #headerOf(token: string): TokenHeader | string {
    const { issuers } = this.#rules;
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      const { iss = '' } = decodeJwt(token);
      if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return malformed;
      if (issuers?.includes(iss) === false) return otherIssuer;
      return kid === undefined ? { alg } : { alg, kid };
    } catch {
      return malformed;
    }
  }

  /** The keys are for the algorithm of the header: nothing else is tried with them. */
  async #verifyWith(keys: readonly Key[], token: string, { alg }: TokenHeader): Promise<VerifiedJwt | string> {
    let refusal = 'The key of the token is not known';
    for (const key of keys) {
      try {
        // One of them at most is right.
        // oxlint-disable-next-line no-await-in-loop
        const { payload } = await jwtVerify(token, key, this.#options(alg));
        return this.#read(payload);
      } catch (error) {
        // Forged, expired, for somebody else, damaged: whatever a client sends is no error of the server.
        refusal = refusalOf(error);
        // This key has signed it.
        if (refusal !== wrongSignature) return refusal;
      }
    }
    return refusal;
  }

  #options(algorithm: string): JWTVerifyOptions {
    const { issuers, audiences, type, maxTokenAge, clockTolerance, requireExpiry, now } = this.#rules;
    return {
      algorithms: [algorithm],
      ...(issuers === null ? {} : { issuer: [...issuers] }),
      ...(audiences === null ? {} : { audience: [...audiences] }),
      ...(type === null ? {} : { typ: type }),
      ...(maxTokenAge === null ? {} : { maxTokenAge }),
      requiredClaims: requireExpiry ? ['exp'] : [],
      clockTolerance,
      currentDate: new Date(now()),
    };
  }

  #read(payload: JWTPayload): VerifiedJwt | string {
    const { name, claims, clockTolerance, maxTokenAge } = this.#rules;
    const { jti, exp = Number.POSITIVE_INFINITY, iat = 0 } = payload;
    if (jti !== undefined && (typeof jti !== 'string' || jti === '' || jti.length > longestSession)) return malformed;
    const caller = { scheme: name, claims: readClaims(payload, claims), session: jti ?? null, sentByBrowser: false };
    const end = maxTokenAge === null ? exp : Math.min(exp, iat + maxTokenAge);
    return Object.freeze({ caller: Object.freeze(caller), expires: end + clockTolerance });
  }
}

function mayHaveSigned(key: JwtKeyPair, { alg, kid }: TokenHeader): boolean {
  return key.algorithm === alg && (key.id === null || kid === undefined || key.id === kid);
}
