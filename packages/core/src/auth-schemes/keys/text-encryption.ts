import { hkdfSync, randomBytes } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { deriveKey, requireStrongSecret } from './key-encryption.ts';

/** Encrypts texts with a secret alone, without stored keys: for values that are written once and read at every start. */
export interface TextEncryption {
  encrypt(text: string): Promise<string>;
  /** Returns null for a text that was encrypted with another secret, application or purpose, or was changed. */
  decrypt(encrypted: string): Promise<string | null>;
}

export interface TextEncryptionOptions {
  /** At least 16 characters. */
  readonly secret: string;
  /** Separates the texts of applications that share a secret. */
  readonly application: string;
  /** A text for one purpose cannot be decrypted for another one. */
  readonly purpose: string;
}

/**
 * Creates an encryption: JWE with AES-256-GCM, whose key is derived from the secret by scrypt with a salt of each text.
 * @throws KeyRingError for a secret that is too short
 */
export function createTextEncryption({ secret, application, purpose }: TextEncryptionOptions): TextEncryption {
  requireStrongSecret(secret);
  const keyOf = async (salt: string): Promise<Uint8Array> => {
    const derived = await deriveKey(secret, salt);
    return new Uint8Array(hkdfSync('sha256', derived, '', JSON.stringify([application, purpose]), 32));
  };
  return {
    encrypt: async (text) => {
      const salt = randomBytes(16).toString('base64url');
      return new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', salt })
        .encrypt(await keyOf(salt));
    },
    decrypt: async (encrypted) => {
      try {
        const { salt } = decodeProtectedHeader(encrypted);
        if (typeof salt !== 'string') return null;
        const { plaintext } = await compactDecrypt(encrypted, await keyOf(salt), {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          maxDecompressedLength: 0,
        });
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext);
      } catch {
        return null;
      }
    },
  };
}
