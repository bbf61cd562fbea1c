import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';

export type JwtAlgorithm = 'HS256' | 'RS256' | 'ES256';

/**
 * A key that tokens are verified with, or signed with where it is secret or private. What it is decides its one algorithm:
 * a secret HS256, an RSA key RS256, a key on the curve P-256 ES256.
 */
export type JwtKey = (
  | { /** At least 32 bytes; text counts as UTF-8. */ readonly secret: string | Uint8Array }
  | { /** A public key, a private key or a certificate. */ readonly pem: string }
  | { readonly jwk: JsonWebKey }
) & {
  /** The `kid` of its tokens; a JWK brings its own. */
  readonly id?: string;
};

/** A key as it is used. */
export interface JwtKeyPair {
  readonly algorithm: JwtAlgorithm;
  readonly id: string | null;
  readonly verifying: KeyObject;
  /** Null: it can only verify. */
  readonly signing: KeyObject | null;
}

const shortestSecret = 32;
const shortestModulus = 2048;

/** @throws TypeError for a key that is none, is too weak, or has no algorithm of ours; without a word of the key */
export function parseJwtKey(key: JwtKey): JwtKeyPair {
  if ('secret' in key) return secretKey(key.secret, key.id ?? null);
  if ('pem' in key) return asymmetric(() => fromPem(key.pem), key.id ?? null);
  return fromJwk(key.jwk, key.id);
}

function secretKey(secret: string | Uint8Array, id: string | null): JwtKeyPair {
  const bytes = Buffer.from(secret as Uint8Array);
  // Whoever has a public key would be able to sign.
  if (bytes.includes('-----BEGIN ')) throw new TypeError('A secret of JWTs is a PEM text: give it as "pem".');
  if (bytes.length < shortestSecret) {
    throw new TypeError(`A secret of JWTs needs at least ${shortestSecret} bytes; this one has ${bytes.length}.`);
  }
  const key = createSecretKey(bytes);
  return { algorithm: 'HS256', id, verifying: key, signing: key };
}

function asymmetric(read: () => KeyObject, id: string | null): JwtKeyPair {
  const key = readable(read);
  const verifying = key.type === 'private' ? createPublicKey(key) : key;
  return { algorithm: algorithmOf(verifying), id, verifying, signing: key.type === 'private' ? key : null };
}

function readable(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    // What the error says might be a part of the key.
    throw new TypeError('A key of JWTs cannot be read: give a public key, a private key or a certificate.');
  }
}

function fromPem(pem: string): KeyObject {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem) ? createPrivateKey(pem) : createPublicKey(pem);
}

function fromJwk(jwk: JsonWebKey, givenId: string | undefined): JwtKeyPair {
  const { kid, alg, use } = jwk as Readonly<Record<'kid' | 'alg' | 'use', unknown>>;
  const id = givenId ?? (typeof kid === 'string' ? kid : null);
  const input = { key: jwk, format: 'jwk' } as const;
  const read =
    jwk.kty === 'oct'
      ? secretKey(Buffer.from(jwk.k ?? '', 'base64url'), id)
      : asymmetric(() => (jwk.d === undefined ? createPublicKey(input) : createPrivateKey(input)), id);
  if (alg !== undefined && alg !== read.algorithm)
    throw new TypeError(`This JWK of JWTs is for ${read.algorithm} only.`);
  if (use === undefined || use === 'sig') return read;
  throw new TypeError('A JWK of JWTs has to be for signatures ("use": "sig").');
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): JwtAlgorithm {
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256';
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= shortestModulus) return 'RS256';
  throw new TypeError(
    `A key of JWTs is of RSA with at least ${shortestModulus} bits, or on the curve P-256; this one is neither.`,
  );
}
