import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

import { createKeyEncryption, KeyRingError } from './key-encryption.ts';
import type { Key } from './key.ts';
import { KeyRotation } from './key-rotation.ts';
import type { KeyStorage } from './key-storage.ts';
import {
  defaultAlgorithm,
  isTokenAlgorithm,
  keyLengthOf,
  type TokenAlgorithm,
  tokenAlgorithms,
} from './token-algorithm.ts';

export interface KeyRingOptions {
  readonly storage: KeyStorage;
  /** Encrypts the keys in storage. At least 16 characters; null: the keys are not encrypted. */
  readonly secret?: string | null;
  /** Earlier secrets, which still decrypt keys in storage. */
  readonly previousSecrets?: readonly string[];
  /** The algorithm of new tokens. Tokens of the other algorithms are decrypted, too. Default `A256GCM`. */
  readonly algorithm?: TokenAlgorithm;
  /** Separates the tokens of applications that share a storage. */
  readonly application?: string;
  /** Seconds for which a key encrypts; it decrypts after that, too. Default 90 days. */
  readonly keyLifetime?: number;
  /** Seconds before the expiry of a key when the next one is made. Default 2 days, at most a quarter of the lifetime. */
  readonly renewBefore?: number;
  /** Seconds between reads of storage, for the keys of other instances. Default an hour, at most half of `renewBefore`. */
  readonly refreshEvery?: number;
  /** Minimum seconds between reads of storage because of unknown key ids. Default 5. */
  readonly rereadAfter?: number;
  /** Reports errors after the start. */
  readonly report?: (error: Error) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Encrypts and decrypts tokens (JWE). */
export interface TokenEncryption {
  /**
   * @param purpose a token for one purpose cannot be decrypted for another one
   * @param payload JSON
   * @param expires seconds since 1970
   * @throws KeyRingError when there is no key and none can be made
   */
  encrypt(purpose: string, payload: object, expires: number): Promise<string>;
  /**
   * Returns null for anything but a valid token for this purpose. Never throws.
   * @param maxLength characters. Default 65,536
   */
  decrypt(purpose: string, token: string, maxLength?: number): Promise<object | null>;
}

export interface KeyRing extends TokenEncryption {
  /** Warnings for the log at start. */
  readonly warnings: readonly string[];
}

const day = 86_400;
/** More than a header can have. */
const maxTokenLength = 64 * 1024;
/** A JWE with direct encryption: its second part is empty. */
const tokenForm = /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Opens the key ring, and makes the first key when storage has none.
 * @throws KeyRingError for a wrong or missing secret, an invalid text in storage, or inconsistent times
 */
export async function openKeyRing(options: KeyRingOptions): Promise<KeyRing> {
  const { storage, secret = null, previousSecrets = [], now = Date.now, report = () => undefined } = options;
  const { application = '', algorithm = defaultAlgorithm } = options;
  const encryption = createKeyEncryption(secret, previousSecrets);
  const keys = new KeyRotation({ storage, encryption, ...timesOf(options), report, now });
  await keys.open();
  const seconds = (): number => Math.floor(now() / 1000);
  return Object.freeze({
    warnings: await warningsOf(storage, secret),
    encrypt: async (purpose, payload, expires) => {
      const key = await keys.current();
      return new EncryptJWT({ data: payload })
        .setProtectedHeader({ alg: 'dir', enc: algorithm, kid: key.id })
        .setExpirationTime(expires)
        .encrypt(deriveKey(key, algorithm, [application, purpose]));
    },
    decrypt: async (purpose, token, maxLength = maxTokenLength) => {
      if (token.length > maxLength || !tokenForm.test(token)) return null;
      return readToken(token, new Date(seconds() * 1000), async (id, used) => {
        const key = await keys.find(id);
        return key === null ? null : deriveKey(key, used, [application, purpose]);
      });
    },
  } satisfies KeyRing);
}

type KeyLookup = (id: string, algorithm: TokenAlgorithm) => Promise<Uint8Array | null>;

async function readToken(token: string, currentDate: Date, find: KeyLookup): Promise<object | null> {
  try {
    const { payload } = await jwtDecrypt<{ readonly data?: unknown }>(
      token,
      async ({ kid, enc }) => {
        const key = typeof kid === 'string' && isTokenAlgorithm(enc) ? await find(kid, enc) : null;
        if (key === null) throw new KeyRingError('unknown key id');
        return key;
      },
      {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: [...tokenAlgorithms],
        maxDecompressedLength: 0,
        requiredClaims: ['exp'],
        currentDate,
      },
    );
    return typeof payload.data === 'object' ? payload.data : null;
  } catch {
    // Every invalid token gets the same result.
    return null;
  }
}

/** Derives the key of an application, purpose and algorithm: a token for another one does not decrypt. */
function deriveKey({ secret }: Key, algorithm: TokenAlgorithm, use: readonly [string, string]): Uint8Array {
  const info = algorithm === defaultAlgorithm ? use : [...use, algorithm];
  return new Uint8Array(hkdfSync('sha256', secret, '', JSON.stringify(info), keyLengthOf(algorithm)));
}

function timesOf(
  options: KeyRingOptions,
): Record<'keyLifetime' | 'renewBefore' | 'refreshEvery' | 'rereadAfter', number> {
  const { keyLifetime = 90 * day, rereadAfter = 5 } = options;
  const { renewBefore = Math.min(2 * day, keyLifetime / 4) } = options;
  const { refreshEvery = Math.min(3600, renewBefore / 2) } = options;
  const fits = 0 < refreshEvery && refreshEvery < renewBefore && renewBefore < keyLifetime && rereadAfter > 0;
  if (fits && Number.isFinite(keyLifetime)) return { keyLifetime, renewBefore, refreshEvery, rereadAfter };
  throw new KeyRingError(
    'inconsistent times of the key ring; give refreshEvery < renewBefore < keyLifetime, all above 0',
  );
}

async function warningsOf(storage: KeyStorage, secret: string | null): Promise<readonly string[]> {
  const warning = await storage.warning();
  if (warning !== null) return [warning];
  if (secret !== null) return [];
  return [
    'The keys of cookies and tokens are stored unencrypted: read access to the storage is enough to forge tokens. Set a secret.',
  ];
}
