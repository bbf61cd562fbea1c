/** The process as the commands see it: streams, terminal, environment, working directory. */
import type { Readable } from 'node:stream';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: {
    write(text: string): void;
    /** Waits until the text is written; false when the reader has closed the output. */
    writeAll(text: string): Promise<boolean>;
  };
  readonly stderr: { write(text: string): void };
  /** Whether the standard output is a terminal that shows colors. */
  readonly hasColors: boolean;
  /** The columns of the terminal; null when the standard output is not one. */
  readonly columns: number | null;
  /** The width of the terminal of the standard error; null: the standard error is no terminal, or interprets no escape sequences. */
  readonly errorColumns: number | null;
  /** Whether questions can be asked: input and messages are those of a terminal. */
  readonly isInteractive: boolean;
  /**
   * Invokes a listener at Ctrl-C, in place of those before it, until the returned function is called. Without a listener, the
   * process ends.
   */
  readonly onInterrupt: (listener: () => void) => () => void;
  readonly environment: Environment;
  readonly workingDirectory: string;
}

/** Of a terminal that does not know its size. */
const defaultColumns = 80;

export function createProcessContext(): ProcessContext {
  // A closed pipe, as in `pgscout --list | head`, ends the output and is no error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    stdin: process.stdin,
    stdout: {
      write: (text) => void process.stdout.write(text),
      writeAll: (text) =>
        new Promise((resolve) => process.stdout.write(text, (error) => resolve(!(error instanceof Error)))),
    },
    stderr: { write: (text) => void process.stderr.write(text) },
    hasColors: process.stdout.isTTY && wantsColors(process.env),
    columns: process.stdout.isTTY ? process.stdout.columns || defaultColumns : null,
    errorColumns:
      process.stderr.isTTY && process.env['TERM'] !== 'dumb' ? process.stderr.columns || defaultColumns : null,
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
    onInterrupt,
    environment: process.env,
    workingDirectory: process.cwd(),
  };
}

const interruptListeners: (() => void)[] = [];

function interrupt(): void {
  interruptListeners.at(-1)?.();
}

function onInterrupt(listener: () => void): () => void {
  if (interruptListeners.length === 0) process.on('SIGINT', interrupt);
  interruptListeners.push(listener);
  return () => {
    interruptListeners.splice(interruptListeners.lastIndexOf(listener), 1);
    if (interruptListeners.length === 0) process.off('SIGINT', interrupt);
  };
}

/** Returns false for `NO_COLOR` with any value (no-color.org), and for a terminal without escape sequences. */
export function wantsColors(environment: Environment): boolean {
  return (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
}
