/** `pgway encrypt`: encrypts a value of a configuration file with `dataProtection.secret`. */
import { ExpectedError } from '../expected-error.ts';
import type { TextEncryption } from '@pgway/core/internal';
import { ConfigurationError } from '../config/configuration-error.ts';
import { encryptedPrefix, valueEncryption } from '../config/encrypted-values.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Flag } from './arguments.ts';
import type { ProcessContext } from '../process-context.ts';
import { isTerminal, onTerminal, readInput, SecretInputError } from './secret-input.ts';

/** The text cannot be decrypted. */
export class EncryptionError extends ExpectedError {
  override readonly name = 'EncryptionError';
}

/** Enough for a private key with its certificates. */
const maxInputBytes = 65_536;

/**
 * Reads a text from the terminal, hidden, or from the standard input, and prints it as an encrypted value; with `--decrypt`, the reverse.
 * @throws ConfigurationError without a secret; SecretInputError; EncryptionError
 */
export async function runEncrypt(
  { configuration }: LoadedConfiguration,
  flags: ReadonlySet<Flag>,
  process: ProcessContext,
): Promise<number> {
  const encryption = openEncryption(configuration);
  if (flags.has('decrypt')) {
    const text = await decrypt(await readText(process, 'Encrypted value: ', false), encryption);
    process.stdout.write(`${process.columns === null ? text : escapeLines(text)}\n`);
  } else {
    const text = await readText(process, 'Value: ', true);
    process.stdout.write(`${encryptedPrefix}${await encryption.encrypt(text)}\n`);
  }
  return 0;
}

function openEncryption({ name, dataProtection }: LoadedConfiguration['configuration']): TextEncryption {
  const { secret, previousSecrets } = dataProtection;
  if (secret === null) {
    throw new ConfigurationError([
      'dataProtection.secret: missing; set it, such as by PGWAY_DATA_PROTECTION_SECRET, to the output of "openssl rand -base64 32", and keep it: the server needs it to decrypt the value',
    ]);
  }
  try {
    return valueEncryption({ secret, previousSecrets, application: name });
  } catch (error) {
    throw new ConfigurationError([`dataProtection.secret: ${(error as Error).message}`]);
  }
}

async function readText(process: ProcessContext, prompt: string, isHidden: boolean): Promise<string> {
  const text = isTerminal(process.stdin)
    ? await onTerminal(process, (ask) => ask(prompt, isHidden))
    : await readInput(process.stdin, maxInputBytes);
  if (text === '') throw new SecretInputError('the value is empty; pass it as in pgway encrypt < value.txt');
  return text;
}

/** Accepts a value as it stands in a file: with quotes, and with or without its prefix. */
async function decrypt(value: string, encryption: TextEncryption): Promise<string> {
  const encrypted = value.trim().replace(/^"(.*)"$/, '$1');
  const text = await encryption.decrypt(
    encrypted.startsWith(encryptedPrefix) ? encrypted.slice(encryptedPrefix.length) : encrypted,
  );
  if (text !== null) return text;
  throw new EncryptionError(
    'the value cannot be decrypted; it is damaged, or was encrypted with another dataProtection.secret or name',
  );
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeControlCharacters).join('\n');
}
