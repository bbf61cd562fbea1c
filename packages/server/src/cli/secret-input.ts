/** Secrets from the terminal, hidden, or from the standard input: arguments can be read by other users of the machine. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import type { ProcessContext } from './process-context.ts';

/** The secret cannot be read; the message is one line. */
export class SecretInputError extends Error {
  override readonly name = 'SecretInputError';
}

export function isTerminal({ isTTY }: ProcessContext['stdin']): boolean {
  return isTTY === true;
}

/** Asks for one line. A hidden line is not echoed. */
export type Ask = (question: string, isHidden: boolean) => Promise<string>;

/** Prompts on the standard error, so that the standard output has the result only. */
export async function onTerminal<Result>(
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
    throw new SecretInputError('cancelled');
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
