/** `pgway hash`: the hash of a password, as logins and HTTP Basic authentication verify it. */
import type { Readable } from 'node:stream';
import { createPasswordHasher } from '@pgway/core';
import type { ProcessContext } from '../process-context.ts';
import { type Ask, isTerminal, onTerminal, readInput, SecretInputError } from './secret-input.ts';

const maxInputBytes = 4096;

const pipeExample = `printf %s "$PASSWORD" | pgway hash`;

/**
 * Reads a password from the terminal, hidden and twice, or from the standard input, and prints its hash.
 * @throws SecretInputError
 */
export async function runHash(process: ProcessContext): Promise<number> {
  const password = isTerminal(process.stdin)
    ? await onTerminal(process, promptTwice)
    : await readPassword(process.stdin);
  process.stdout.write(`${await createPasswordHasher().hash(password)}\n`);
  return 0;
}

/**
 * Reads a password and a hash, and prints whether they match. The standard input has them on two lines. Returns 1 when they do not.
 * @throws SecretInputError
 */
export async function runVerify(process: ProcessContext): Promise<number> {
  const [password, hash] = isTerminal(process.stdin)
    ? await onTerminal(process, promptForHash)
    : await readPair(process.stdin);
  const isMatch = await createPasswordHasher().verify(password, hash.trim());
  process.stdout.write(isMatch ? 'the password matches the hash\n' : 'the password does not match the hash\n');
  return isMatch ? 0 : 1;
}

async function promptTwice(ask: Ask): Promise<string> {
  const password = await ask('Password: ', true);
  if (password === '') throw new SecretInputError('the password is empty');
  if ((await ask('Repeat the password: ', true)) !== password) {
    throw new SecretInputError('the two passwords differ; run the command again');
  }
  return password;
}

async function promptForHash(ask: Ask): Promise<readonly [string, string]> {
  return [await ask('Password: ', true), await ask('Hash: ', false)];
}

async function readPassword(input: Readable): Promise<string> {
  const text = await readInput(input, maxInputBytes);
  if (text === '') throw new SecretInputError(`the standard input has no password; pass it as in ${pipeExample}`);
  if (/[\r\n]/.test(text)) {
    throw new SecretInputError(`the standard input has more than one line; pass one password, as in ${pipeExample}`);
  }
  return text;
}

async function readPair(input: Readable): Promise<readonly [string, string]> {
  const [password, hash, ...more] = (await readInput(input, maxInputBytes)).split(/\r?\n/);
  if (password === undefined || hash === undefined || more.length > 0) {
    throw new SecretInputError(
      'pgway hash --verify reads two lines from the standard input: the password and the hash',
    );
  }
  return [password, hash];
}
