/** The content encryption of tokens (RFC 7518, section 5.1). */
export const tokenAlgorithms = [
  'A256GCM',
  'A192GCM',
  'A128GCM',
  'A256CBC-HS512',
  'A192CBC-HS384',
  'A128CBC-HS256',
] as const;

export type TokenAlgorithm = (typeof tokenAlgorithms)[number];

export const defaultAlgorithm: TokenAlgorithm = 'A256GCM';

/** Bytes; with HMAC, half of them are for the signature. */
const keyLengths: Readonly<Record<TokenAlgorithm, number>> = {
  A256GCM: 32,
  A192GCM: 24,
  A128GCM: 16,
  'A256CBC-HS512': 64,
  'A192CBC-HS384': 48,
  'A128CBC-HS256': 32,
};

export function keyLengthOf(algorithm: TokenAlgorithm): number {
  return keyLengths[algorithm];
}

export function isTokenAlgorithm(name: unknown): name is TokenAlgorithm {
  return (tokenAlgorithms as readonly unknown[]).includes(name);
}
