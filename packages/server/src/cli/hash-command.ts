/** `pgway hash`: the hash of a password, as logins and HTTP Basic authentication verify it. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { createPasswordHasher } from '@pgway/core';
import type { ProcessContext } from './process-context.ts';

/** The password cannot be read; the message is one line. */
export class PasswordInputError extends Error {
  override readonly name = 'PasswordInputError';
}

/** Passwords are short: a larger input is a mistake, such as the wrong file. */
const maxInputBytes = 4096;

const pipeExample = `printf %s "$PASSWORD" | pgway hash`;

/**
 * Reads a password from the terminal, hidden and twice, or from the standard input, and prints its hash.
 * @throws PasswordInputError
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
 * @throws PasswordInputError
 */
export async function runVerify(process: ProcessContext): Promise<number> {
  const [password, hash] = isTerminal(process.stdin)
    ? await onTerminal(process, promptForHash)
    : await readPair(process.stdin);
  const isMatch = await createPasswordHasher().verify(password, hash.trim());
  process.stdout.write(isMatch ? 'the password matches the hash\n' : 'the password does not match the hash\n');
  return isMatch ? 0 : 1;
}

function isTerminal({ isTTY }: ProcessContext['stdin']): boolean {
  return isTTY === true;
}

/** Asks for one line. A hidden line is not echoed. */
type Ask = (question: string, isHidden: boolean) => Promise<string>;

async function promptTwice(ask: Ask): Promise<string> {
  const password = await ask('Password: ', true);
  if (password === '') throw new PasswordInputError('the password is empty');
  if ((await ask('Repeat the password: ', true)) !== password) {
    throw new PasswordInputError('the two passwords differ; run the command again');
  }
  return password;
}

async function promptForHash(ask: Ask): Promise<readonly [string, string]> {
  return [await ask('Password: ', true), await ask('Hash: ', false)];
}

/** Prompts on the standard error, so that the standard output has the hash only. */
async function onTerminal<Result>(
  { stdin, stderr }: ProcessContext,
  use: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  let isMuted = true;
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (!isMuted) stderr.write(chunk.toString());
      done();
    },
  });
  const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const closed = once(lines, 'close').then(() => {
    throw new PasswordInputError('cancelled');
  });
  const ask: Ask = async (question, isHidden) => {
    stderr.write(question);
    isMuted = isHidden;
    const [line] = (await Promise.race([once(lines, 'line'), closed])) as [string];
    if (isHidden) stderr.write('\n');
    return line;
  };
  try {
    return await use(ask);
  } finally {
    closed.catch(() => {});
    lines.close();
  }
}

async function readPassword(input: Readable): Promise<string> {
  const text = await readInput(input);
  if (text === '') throw new PasswordInputError(`the standard input has no password; pass it as in ${pipeExample}`);
  if (/[\r\n]/.test(text)) {
    throw new PasswordInputError(`the standard input has more than one line; pass one password, as in ${pipeExample}`);
  }
  return text;
}

async function readPair(input: Readable): Promise<readonly [string, string]> {
  const [password, hash, ...more] = (await readInput(input)).split(/\r?\n/);
  if (password === undefined || hash === undefined || more.length > 0) {
    throw new PasswordInputError(
      'pgway hash --verify reads two lines from the standard input: the password and the hash',
    );
  }
  return [password, hash];
}

/** Returns the standard input without the line feed at its end, which `echo` adds. */
async function readInput(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxInputBytes) throw new PasswordInputError(`the standard input has more than ${maxInputBytes} bytes`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(Buffer.concat(chunks))
      .replace(/\r?\n$/, '');
  } catch (cause) {
    throw new PasswordInputError('the standard input is not UTF-8', { cause });
  }
}
