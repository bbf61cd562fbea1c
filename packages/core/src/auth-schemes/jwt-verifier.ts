import { isStorable } from './storable.ts';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';

import type { Caller } from '../ports/ports.ts';
import { RemoteKeys, type TokenHeader } from './jwks.ts';
import type { JwksOptions } from './options.ts';
import { type ClaimPaths, readClaims } from './jwt-claims.ts';
import type { JwtKeyPair } from './jwt-keys.ts';

/** The requirements for tokens. Times in seconds. */
export interface JwtRules {
  readonly name: string;
  readonly keys: readonly JwtKeyPair[];
  readonly jwks: JwksOptions | null;
  /** Null: any issuer. */
  readonly issuers: readonly string[] | null;
  /** The issuer of the tokens of logins, undefined for tokens without one; null: the scheme has no logins. */
  readonly ownIssuer: string | undefined | null;
  /** Null: any audience. */
  readonly audiences: readonly string[] | null;
  /** Tokens that are accepted for any issuer and audience. */
  readonly apiKeys: ReadonlySet<string>;
  readonly clockTolerance: number;
  readonly requireExpiry: boolean;
  readonly maxTokenAge: number | null;
  readonly type: string | null;
  readonly claims: ClaimPaths;
  readonly userIdClaim: string;
  readonly report: (error: Error) => void;
  readonly now: () => number;
}

/** The caller of a valid token. */
export interface VerifiedJwt {
  readonly caller: Caller;
  /** Seconds since 1970. */
  readonly expires: number;
}

type Key = Parameters<typeof jwtVerify>[1];

const maxSessionLength = 256;

const malformed = 'The token is malformed';
export const unsigned = 'The token is not signed';
const unstorable = 'A claim of the token has a NUL character or an unpaired surrogate';
const otherIssuer = 'The token is from another issuer';
const malformedAudience = 'The claim aud is not a text or an array of texts';
const wrongSignature = 'The signature of the token is not valid';

const failedClaims: Readonly<Record<string, string>> = {
  aud: 'The token is for another audience',
  iss: otherIssuer,
  nbf: 'The token is not valid yet',
  exp: 'The token has no expiry',
  iat: 'The token has no valid time of issue',
  typ: 'The token is of another type',
};

const numericClaims: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat']);

/** RFC 7519, 4.1.3. Null counts as absent. */
function isAudience(aud: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud ?? ''];
  return values.every((value) => typeof value === 'string');
}

function refusalOf(error: unknown): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) return wrongSignature;
  if (error instanceof errors.JWTExpired)
    return error.claim === 'iat' ? 'The token is too old' : 'The token has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === 'invalid' && numericClaims.has(error.claim)) return `The claim ${error.claim} is not a number`;
    return failedClaims[error.claim] ?? malformed;
  }
  return malformed;
}

/** Verifies tokens by keys and rules. */
export class JwtVerifier {
  readonly #rules: JwtRules;
  readonly #remote: RemoteKeys | null;

  /** @throws TypeError for an invalid JWKS URL */
  constructor(rules: JwtRules) {
    this.#rules = rules;
    this.#remote = rules.jwks === null ? null : new RemoteKeys(rules.jwks, rules.report);
  }

  /** Returns the caller, or the reason why the token is refused. Never throws. */
  async verify(token: string): Promise<VerifiedJwt | string> {
    const header = this.#headerOf(token);
    if (typeof header === 'string') return header;
    const localKeys = this.#rules.keys.filter((key) => mayHaveSigned(key, header)).map(({ verifying }) => verifying);
    const verdict = await this.#verifyWith(localKeys, token, header);
    if (typeof verdict !== 'string' || this.#remote?.algorithms.includes(header.alg) !== true) return verdict;
    return this.#verifyWith(await this.#remote.find(header), token, header);
  }

  /** Returns the header, or the reason to refuse the token without looking for a key. */
  #headerOf(token: string): TokenHeader | string {
    const { issuers, apiKeys } = this.#rules;
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      const { iss = '' } = decodeJwt(token);
      if (alg === 'none') return unsigned;
      if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return malformed;
      if (issuers?.includes(iss) === false && !apiKeys.has(token)) return otherIssuer;
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
        // Sequential: at most one key verifies.
        const { payload } = await jwtVerify(token, key, this.#options(alg, this.#rules.apiKeys.has(token)));
        return isAudience(payload.aud) ? this.#read(payload, token) : malformedAudience;
      } catch (error) {
        // An invalid token is not an error of the server.
        refusal = refusalOf(error);
        // The key has verified; a claim is invalid.
        if (refusal !== wrongSignature) return refusal;
      }
    }
    return refusal;
  }

  #options(algorithm: string, isApiKey: boolean): JWTVerifyOptions {
    const { issuers, audiences, type, maxTokenAge, clockTolerance, requireExpiry, now } = this.#rules;
    return {
      algorithms: [algorithm],
      ...(issuers === null || isApiKey ? {} : { issuer: [...issuers] }),
      ...(audiences === null || isApiKey ? {} : { audience: [...audiences] }),
      ...(type === null ? {} : { typ: type }),
      ...(maxTokenAge === null ? {} : { maxTokenAge }),
      requiredClaims: requireExpiry ? ['exp'] : [],
      clockTolerance,
      currentDate: new Date(now()),
    };
  }

  #read(payload: JWTPayload, token: string): VerifiedJwt | string {
    const { name, claims, userIdClaim, ownIssuer, clockTolerance, maxTokenAge } = this.#rules;
    const { jti, iss, exp = Number.POSITIVE_INFINITY, iat = 0 } = payload;
    if (jti !== undefined && (typeof jti !== 'string' || jti === '' || jti.length > maxSessionLength)) return malformed;
    // Without these characters, an identifier would be another one.
    if (!isStorable(payload)) return unstorable;
    const caller = {
      scheme: name,
      ...(iss === ownIssuer ? { issuer: null } : iss === undefined ? {} : { issuer: iss }),
      claims: readClaims(payload, claims, userIdClaim),
      payload: Buffer.from(token.split('.')[1]!, 'base64url').toString(),
      session: jti ?? null,
      sentByBrowser: false,
    };
    const end = maxTokenAge === null ? exp : Math.min(exp, iat + maxTokenAge);
    return Object.freeze({ caller: Object.freeze(caller), expires: end + clockTolerance });
  }
}

function mayHaveSigned(key: JwtKeyPair, { alg, kid }: TokenHeader): boolean {
  return key.algorithm === alg && (key.id === null || kid === undefined || key.id === kid);
}
