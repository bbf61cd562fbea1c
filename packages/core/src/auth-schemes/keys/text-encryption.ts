import { hkdfSync, randomBytes } from 'node:crypto';
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
  /** Earlier secrets, which still decrypt. */
  readonly previousSecrets?: readonly string[];
  /** Separates the texts of applications that share a secret. */
  readonly application: string;
  /** A text for one purpose cannot be decrypted for another one. */
  readonly purpose: string;
}

/**
 * Creates an encryption: JWE with AES-256-GCM, whose key is derived from the secret by scrypt with a salt of each text.
 * @throws KeyRingError for a secret that is too short
 */
export function createTextEncryption(options: TextEncryptionOptions): TextEncryption {
  const { secret, previousSecrets = [], application, purpose } = options;
  requireStrongSecret(secret);
  const keyOf = async (salt: string, from: string): Promise<Uint8Array> => {
    const derived = await deriveKey(from, salt);
    return new Uint8Array(hkdfSync('sha256', derived, '', JSON.stringify([application, purpose]), 32));
  };
  return {
    encrypt: async (text) => {
      const { CompactEncrypt } = await import('jose');
      const salt = randomBytes(16).toString('base64url');
      return new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', salt })
        .encrypt(await keyOf(salt, secret));
    },
    decrypt: async (encrypted) => {
      for (const candidate of [secret, ...previousSecrets]) {
        // In order: the current secret nearly always decrypts.
        const text = await decrypt(encrypted, (salt) => keyOf(salt, candidate));
        if (text !== null) return text;
      }
      return null;
    },
  };
}

async function decrypt(encrypted: string, keyOf: (salt: string) => Promise<Uint8Array>): Promise<string | null> {
  const { compactDecrypt, decodeProtectedHeader } = await import('jose');
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
}
