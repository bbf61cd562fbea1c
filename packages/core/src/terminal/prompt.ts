import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';

/** The streams of a terminal. */
export interface TerminalStreams {
  readonly stdin: Readable;
  readonly stderr: { write(text: string): void };
}

/** The prompt has been cancelled; the message is one line. */
export class PromptCancelled extends Error {
  override readonly name = 'PromptCancelled';
}

/** Asks for one line. A hidden line is not echoed. */
export type Ask = (question: string, isHidden: boolean) => Promise<string>;

/**
 * Prompts on the standard error, so that the standard output has the result only.
 * @throws PromptCancelled at the end of the input, and at Ctrl-C
 */
export async function onTerminal<Result>(
  { stdin, stderr }: TerminalStreams,
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
    throw new PromptCancelled('cancelled');
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
