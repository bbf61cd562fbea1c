import { randomBytes, scrypt } from 'node:crypto';

import { type Key, parseKey, serializeKey } from './key.ts';
import type { StoredKey } from './key-storage.ts';

/** The key ring cannot be opened or used. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
}

/** The form of keys in storage. */
export interface KeyEncryption {
  encrypt(key: Key): Promise<string>;
  /** @throws KeyRingError for a text that is not a key, or not encrypted with this secret */
  decrypt(stored: StoredKey): Promise<Key>;
}

const minSecretLength = 16;
/** scrypt: each guess at the secret costs 32 MB and about 0.1 s. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/**
 * @param previousSecrets still decrypt
 * @throws KeyRingError for a secret that is too short, and for previous secrets without one
 */
export function createKeyEncryption(secret: string | null, previousSecrets: readonly string[] = []): KeyEncryption {
  if (secret !== null) {
    requireStrongSecret(secret);
    return encrypted(secret, previousSecrets);
  }
  if (previousSecrets.length === 0) return plain;
  throw new KeyRingError('the key ring has previous secrets without a secret; set the secret that encrypts new keys');
}

/** @throws KeyRingError for a secret that is too short */
export function requireStrongSecret(secret: string): void {
  if (secret.length >= minSecretLength) return;
  throw new KeyRingError(
    `the secret of the key ring has ${secret.length} characters; give at least ${minSecretLength} random ones ` +
      `(for example the output of "openssl rand -base64 32")`,
  );
}

const plain: KeyEncryption = {
  encrypt: (key) => Promise.resolve(serializeKey(key)),
  decrypt: ({ text, place }) => {
    const key = parseKey(text);
    if (key !== null) return Promise.resolve(key);
    return Promise.reject(
      isEncrypted(text)
        ? new KeyRingError(`the key at ${place} is encrypted; start with the secret that it was written with`)
        : damaged(place),
    );
  },
};

function encrypted(secret: string, previousSecrets: readonly string[]): KeyEncryption {
  const derivation = new Derivation(secret);
  const previous = previousSecrets.map((text) => new Derivation(text));
  return {
    encrypt: async (key) => {
      const { CompactEncrypt } = await import('jose');
      const { salt, wrapping } = await derivation.own();
      return new CompactEncrypt(new TextEncoder().encode(serializeKey(key)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.id, salt })
        .encrypt(wrapping);
    },
    decrypt: async ({ text, place }) => {
      // Otherwise, write access to storage would be enough to add a key, and to forge tokens.
      if (parseKey(text) !== null) {
        throw new KeyRingError(
          `the key at ${place} is not encrypted, but the key ring has a secret; remove the key, which ends the sessions that ` +
            `use it, or start without the secret`,
        );
      }
      if (!isEncrypted(text)) throw damaged(place);
      const key = parseKey(await decryptWithAny(text, place, [derivation, ...previous]));
      if (key === null) throw damaged(place);
      return key;
    },
  };
}

/** @throws KeyRingError when none decrypts */
async function decryptWithAny(
  text: string,
  place: string,
  [derivation, ...others]: readonly [Derivation, ...Derivation[]],
): Promise<string> {
  try {
    return await decrypt(text, place, derivation);
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined) throw error;
    return decryptWithAny(text, place, [next, ...rest]);
  }
}

async function decrypt(text: string, place: string, derivation: Derivation): Promise<string> {
  const { compactDecrypt, decodeProtectedHeader } = await import('jose');
  try {
    const { salt } = decodeProtectedHeader(text);
    const { plaintext } = await compactDecrypt(text.trim(), await derivation.derive(String(salt)), {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    });
    derivation.reuse(String(salt));
    return new TextDecoder().decode(plaintext);
  } catch (cause) {
    throw new KeyRingError(
      `the key at ${place} was encrypted with another secret (or is damaged); start with the secret that it was written ` +
        `with, or remove the key, which ends the sessions that use it`,
      { cause },
    );
  }
}

function isEncrypted(text: string): boolean {
  return /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+\s*$/.test(text);
}

function damaged(place: string): KeyRingError {
  return new KeyRingError(`the text at ${place} is not a key; restore it from a backup, or remove it`);
}

/** The encryption keys derived from the secret. Keys written by one instance share a salt, so that a start needs few derivations. */
class Derivation {
  readonly #secret: string;
  readonly #derived = new Map<string, Promise<Uint8Array>>();
  #ownSalt: string | null = null;

  constructor(secret: string) {
    this.#secret = secret;
  }

  derive(salt: string): Promise<Uint8Array> {
    let wrapping = this.#derived.get(salt);
    if (wrapping === undefined) {
      wrapping = deriveKey(this.#secret, salt);
      this.#derived.set(salt, wrapping);
    }
    return wrapping;
  }

  /** Reuses a salt after a successful decryption, which proves that it was not injected into storage. */
  reuse(salt: string): void {
    this.#ownSalt ??= salt;
  }

  async own(): Promise<{ readonly salt: string; readonly wrapping: Uint8Array }> {
    this.#ownSalt ??= randomBytes(16).toString('base64url');
    const salt = this.#ownSalt;
    return { salt, wrapping: await this.derive(salt) };
  }
}

/** Derives 256 bits from the secret. */
export function deriveKey(secret: string, salt: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    scrypt(secret, Buffer.from(salt, 'base64url'), 32, cost, (error, key) => {
      if (error === null) resolve(new Uint8Array(key));
      else reject(error);
    });
  });
}
