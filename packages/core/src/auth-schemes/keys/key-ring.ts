import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

import { createKeyEncryption, KeyRingError } from './key-encryption.ts';
import type { Key } from './key.ts';
import { KeyRotation } from './key-rotation.ts';
import type { KeyStorage } from './key-storage.ts';

export interface KeyRingOptions {
  readonly storage: KeyStorage;
  /** Encrypts the keys in storage. At least 16 characters; null: they lie there readable. */
  readonly secret?: string | null;
  /** Rings of several applications may share a storage: what one of them has protected is nothing for another. */
  readonly application?: string;
  /** Seconds for which a key protects; what it has protected can be read after that too. Default 90 days. */
  readonly keyLifetime?: number;
  /** Seconds before the end of a key in which the next is made. Default 2 days, at most a quarter of the lifetime. */
  readonly renewBefore?: number;
  /** Seconds after which storage is read again, for the keys of other instances. Default an hour, at most half of `renewBefore`. */
  readonly refreshEvery?: number;
  /** Seconds in which a token with an unknown key makes us read storage once. Default 5. */
  readonly rereadAfter?: number;
  /** Told of what goes wrong after the start and can be lived with. */
  readonly report?: (error: Error) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Makes tokens that only we can read, and reads them. */
export interface TokenEncryption {
  /**
   * @param purpose what the token is for; it means nothing for another purpose
   * @param payload JSON
   * @param expires seconds since 1970
   * @throws KeyRingError when there is no key and none can be made
   */
  encrypt(purpose: string, payload: object, expires: number): Promise<string>;
  /**
   * Null: not a token of ours for this purpose, or no longer. Never throws, whatever the text is.
   * @param longest characters; a longer text is no token. Default 65,536
   */
  decrypt(purpose: string, token: string, longest?: number): Promise<object | null>;
}

export interface KeyRing extends TokenEncryption {
  /** What a host should know at the start. */
  readonly warnings: readonly string[];
}

const day = 86_400;
/** More than any header that a server takes. */
const longestToken = 64 * 1024;
/** A JWE with a key that is agreed on: its second part is empty. */
const tokenForm = /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Opens the ring, and makes its first key where there is none.
 * @throws KeyRingError for a wrong or missing secret, a text in storage that is no key, or times that do not fit together
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
        .encrypt(keyFor(key, application, purpose));
    },
    decrypt: async (purpose, token, longest = longestToken) => {
      if (token.length > longest || !tokenForm.test(token)) return null;
      return readToken(token, new Date(seconds() * 1000), async (id) => {
        const key = await keys.find(id);
        return key === null ? null : keyFor(key, application, purpose);
      });
    },
  } satisfies KeyRing);
}

type Finder = (id: string) => Promise<Uint8Array | null>;

async function readToken(token: string, currentDate: Date, find: Finder): Promise<object | null> {
  try {
    const { payload } = await jwtDecrypt<{ readonly data?: unknown }>(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' ? await find(kid) : null;
        if (key === null) throw new KeyRingError('No key has this id.');
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
    // Forged, expired, for another purpose, damaged: whatever a client sends is answered alike.
    return null;
  }
}

/** A key of its own for each purpose: a token for another one does not decrypt. */
function keyFor({ secret }: Key, application: string, purpose: string): Uint8Array {
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
    'The times of the key ring do not fit together: refreshEvery has to be less than renewBefore, that less than ' +
      'keyLifetime, and all more than 0.',
  );
}

async function warningsOf(storage: KeyStorage, secret: string | null): Promise<readonly string[]> {
  const warning = await storage.warning();
  if (warning !== null) return [warning];
  if (secret !== null) return [];
  return ['The keys of sign-in are stored readable: whoever can read their storage can forge sign-ins. Give a secret.'];
}
