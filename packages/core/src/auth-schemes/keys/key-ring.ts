import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

import { createKeyEncryption, KeyRingError } from './key-encryption.ts';
import type { Key } from './key.ts';
import { KeyRotation } from './key-rotation.ts';
import type { KeyStorage } from './key-storage.ts';

export interface KeyRingOptions {
  readonly storage: KeyStorage;
  /** Encrypts the keys in storage. At least 16 characters; null: the keys are not encrypted. */
  readonly secret?: string | null;
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
  const { storage, secret = null, application = '', now = Date.now, report = () => undefined } = options;
  const keys = new KeyRotation({ storage, encryption: createKeyEncryption(secret), ...timesOf(options), report, now });
  await keys.open();
  const seconds = (): number => Math.floor(now() / 1000);
  return Object.freeze({
    warnings: await warningsOf(storage, secret),
    encrypt: async (purpose, payload, expires) => {
      const key = await keys.current();
      return new EncryptJWT({ data: payload })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.id })
        .setExpirationTime(expires)
        .encrypt(deriveKey(key, application, purpose));
    },
    decrypt: async (purpose, token, maxLength = maxTokenLength) => {
      if (token.length > maxLength || !tokenForm.test(token)) return null;
      return readToken(token, new Date(seconds() * 1000), async (id) => {
        const key = await keys.find(id);
        return key === null ? null : deriveKey(key, application, purpose);
      });
    },
  } satisfies KeyRing);
}

type KeyLookup = (id: string) => Promise<Uint8Array | null>;

async function readToken(token: string, currentDate: Date, find: KeyLookup): Promise<object | null> {
  try {
    const { payload } = await jwtDecrypt<{ readonly data?: unknown }>(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' ? await find(kid) : null;
        if (key === null) throw new KeyRingError('unknown key id');
        return key;
      },
      {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
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

/** Derives the key of a purpose: a token for another purpose does not decrypt. */
function deriveKey({ secret }: Key, application: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', JSON.stringify([application, purpose]), 32));
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
