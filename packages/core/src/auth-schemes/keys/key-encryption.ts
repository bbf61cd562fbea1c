import { randomBytes, scrypt } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';

import { type Key, readKey, writeKey } from './key.ts';
import type { StoredKey } from './key-storage.ts';

/** A key ring that cannot be opened or used. One line that says what is wrong and what to do. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
}

/** How keys are written to storage, and read from it. */
export interface KeyEncryption {
  encrypt(key: Key): Promise<string>;
  /** @throws KeyRingError when the text is not a key that this ring may use */
  decrypt(stored: StoredKey): Promise<Key>;
}

const shortestSecret = 16;
/** 32 MB and a tenth of a second for each guess at the secret. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

/** @throws KeyRingError for a secret that can be guessed */
export function createKeyEncryption(secret: string | null): KeyEncryption {
  if (secret === null) return plain;
  if (secret.length < shortestSecret) {
    throw new KeyRingError(
      `The secret of the key ring has ${secret.length} characters: give at least ${shortestSecret}, at random ` +
        `(for example the output of "openssl rand -base64 32").`,
    );
  }
  return encrypted(secret);
}

const plain: KeyEncryption = {
  encrypt: (key) => Promise.resolve(writeKey(key)),
  decrypt: ({ text, place }) => {
    const key = readKey(text);
    if (key !== null) return Promise.resolve(key);
    return Promise.reject(
      isEncrypted(text)
        ? new KeyRingError(`The key at ${place} is encrypted: start with the secret that it was written with.`)
        : damaged(place),
    );
  },
};

function encrypted(secret: string): KeyEncryption {
  const derivation = new Derivation(secret);
  return {
    encrypt: async (key) => {
      const { salt, wrapping } = await derivation.any();
      return new CompactEncrypt(new TextEncoder().encode(writeKey(key)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.id, salt })
        .encrypt(wrapping);
    },
    decrypt: async ({ text, place }) => {
      // Whoever can write to storage could otherwise add a key that he knows.
      if (readKey(text) !== null) {
        throw new KeyRingError(
          `The key at ${place} is not encrypted, but the key ring has a secret: remove that key (who signed in with it ` +
            `signs in again), or start without the secret.`,
        );
      }
      if (!isEncrypted(text)) throw damaged(place);
      const key = readKey(await decrypt(text, place, derivation));
      if (key === null) throw damaged(place);
      return key;
    },
  };
}

async function decrypt(text: string, place: string, derivation: Derivation): Promise<string> {
  try {
    const { salt } = decodeProtectedHeader(text);
    const { plaintext } = await compactDecrypt(text.trim(), await derivation.of(String(salt)), {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    });
    derivation.proven(String(salt));
    return new TextDecoder().decode(plaintext);
  } catch (cause) {
    throw new KeyRingError(
      `The key at ${place} was encrypted with another secret (or is damaged): start with the secret that it was written ` +
        `with, or remove that key (who signed in with it signs in again).`,
      { cause },
    );
  }
}

function isEncrypted(text: string): boolean {
  return /^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+\s*$/.test(text);
}

function damaged(place: string): KeyRingError {
  return new KeyRingError(`The text at ${place} is not a key: restore it from a backup, or remove it.`);
}

/** The wrapping keys of a secret. Keys written by one instance share a salt, so that a start pays for few derivations. */
class Derivation {
  readonly #secret: string;
  readonly #known = new Map<string, Promise<Uint8Array>>();
  #ours: string | null = null;

  constructor(secret: string) {
    this.#secret = secret;
  }

  of(salt: string): Promise<Uint8Array> {
    let wrapping = this.#known.get(salt);
    if (wrapping === undefined) {
      wrapping = derive(this.#secret, salt);
      this.#known.set(salt, wrapping);
    }
    return wrapping;
  }

  /** Something that only the secret could have written stands under this salt: it was not made up by somebody else. */
  proven(salt: string): void {
    this.#ours ??= salt;
  }

  async any(): Promise<{ readonly salt: string; readonly wrapping: Uint8Array }> {
    this.#ours ??= randomBytes(16).toString('base64url');
    const salt = this.#ours;
    return { salt, wrapping: await this.of(salt) };
  }
}

function derive(secret: string, salt: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    scrypt(secret, Buffer.from(salt, 'base64url'), 32, cost, (error, key) => {
      if (error === null) resolve(new Uint8Array(key));
      else reject(error);
    });
  });
}
