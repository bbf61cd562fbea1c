import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';

export type JwtAlgorithm = 'HS256' | 'RS256' | 'ES256';

/**
 * A key that verifies tokens; a secret or private key signs them too. The type of the key determines its only algorithm: HS256 for a
 * secret, RS256 for RSA, ES256 for the curve P-256.
 */
export type JwtKey = (
  | { /** At least 32 bytes; text counts as UTF-8. */ readonly secret: string | Uint8Array }
  | { /** A public key, a private key or a certificate. */ readonly pem: string }
  | { readonly jwk: JsonWebKey }
) & {
  /** The `kid` of its tokens. Default: the `kid` of the JWK. */
  readonly id?: string;
};

/** A parsed key. */
export interface JwtKeyPair {
  readonly algorithm: JwtAlgorithm;
  readonly id: string | null;
  readonly verifying: KeyObject;
  /** Null for a public key. */
  readonly signing: KeyObject | null;
}

const minSecretBytes = 32;
const minModulusBits = 2048;

/** @throws TypeError for an invalid, weak or unsupported key; the message does not contain the key */
export function parseJwtKey(key: JwtKey): JwtKeyPair {
  if ('secret' in key) return secretKey(key.secret, key.id ?? null);
  if ('pem' in key) return asymmetric(() => fromPem(key.pem), key.id ?? null);
  return fromJwk(key.jwk, key.id);
}

function secretKey(secret: string | Uint8Array, id: string | null): JwtKeyPair {
  const bytes = Buffer.from(secret as Uint8Array);
  // With a public key as the secret of HS256, any client could sign.
  if (bytes.includes('-----BEGIN ')) throw new TypeError('the JWT secret is a PEM text; give it as "pem"');
  if (bytes.length < minSecretBytes) {
    throw new TypeError(`the JWT secret has ${bytes.length} bytes; give at least ${minSecretBytes}`);
  }
  const key = createSecretKey(bytes);
  return { algorithm: 'HS256', id, verifying: key, signing: key };
}

function asymmetric(read: () => KeyObject, id: string | null): JwtKeyPair {
  const key = parse(read);
  const verifying = key.type === 'private' ? createPublicKey(key) : key;
  return { algorithm: algorithmOf(verifying), id, verifying, signing: key.type === 'private' ? key : null };
}

function parse(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    // Without the cause, whose message may contain a part of the key.
    throw new TypeError('cannot read the JWT key; give a public key, a private key or a certificate');
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
    throw new TypeError(`the JWK has alg ${JSON.stringify(alg)}, but its key is for ${read.algorithm}`);
  if (use === undefined || use === 'sig') return read;
  throw new TypeError(`the JWK has use ${JSON.stringify(use)}; give a key for signatures ("use": "sig")`);
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): JwtAlgorithm {
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256';
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= minModulusBits) return 'RS256';
  throw new TypeError(
    `unsupported JWT key; give an RSA key with at least ${minModulusBits} bits, or a key on the curve P-256`,
  );
}
