/** Secrets from the terminal, hidden, or from the standard input: arguments can be read by other users of the machine. */
import { ExpectedError } from '../expected-error.ts';
import type { Readable } from 'node:stream';
import type { ProcessContext } from '../process-context.ts';

export { type Ask, onTerminal } from '@pgway/core/terminal';

/** The secret cannot be read; the message is one line. */
export class SecretInputError extends ExpectedError {
  override readonly name = 'SecretInputError';
}

export function isTerminal({ isTTY }: ProcessContext['stdin']): boolean {
  return isTTY === true;
}

/**
 * Returns the standard input without the line feed at its end, which `echo` adds.
 * @throws SecretInputError for a larger input, which is a mistake, such as the wrong file
 */
export async function readInput(input: Readable, maxInputBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxInputBytes) throw new SecretInputError(`the standard input has more than ${maxInputBytes} bytes`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(Buffer.concat(chunks))
      .replace(/\r?\n$/, '');
  } catch (cause) {
    throw new SecretInputError('the standard input is not UTF-8', { cause });
  }
}
