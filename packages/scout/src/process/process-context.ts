/** The process as the commands see it: streams, terminal, environment, working directory. */
import { fstatSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { CommandError } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Output {
  write(text: string): void;
  /** Waits until the text is written; false when the output cannot be written, as when its reader has closed it. */
  writeAll(text: string): Promise<boolean>;
  /**
   * Waits until all texts are written. A closed pipe, as in `pgscout --list | head`, ends the output and is not an error.
   * @throws CommandError when a text could not be written for another reason, such as a full disk
   */
  finish(): Promise<void>;
}

export interface ProcessContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: { write(text: string): void };
  /** Whether the standard output is a terminal that shows colors. */
  readonly hasColors: boolean;
  /** The columns of the terminal; null when the standard output is not one. */
  readonly columns: number | null;
  /** The width of the terminal of the standard error; null: the standard error is not a terminal, or interprets no escape sequences. */
  readonly errorColumns: number | null;
  /** Whether questions can be asked: input and messages are those of a terminal. */
  readonly isInteractive: boolean;
  /**
   * Invokes a listener at Ctrl-C or another signal that ends programs, in place of those before it, until the returned function is
   * called. Without a listener, the process ends.
   */
  readonly onInterrupt: (listener: (signal: EndSignal) => void) => () => void;
  readonly environment: Environment;
  readonly workingDirectory: string;
}

export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Of a terminal that does not know its size. */
const defaultColumns = 80;

export function createProcessContext(): ProcessContext {
  // Messages that cannot be shown are lost.
  process.stderr.on('error', () => {});
  return {
    stdin: process.stdin,
    stdout: createOutput(),
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

/** An output that keeps its first error. */
function createOutput(): Output {
  let fault: NodeJS.ErrnoException | null = null;
  const writeText = !process.stdout.isTTY && isFile(process.stdout.fd) ? writeToFile : writeToStream;
  process.stdout.on('error', (error: Error) => (fault ??= error));
  const writeAll = async (text: string): Promise<boolean> => {
    if (fault !== null) return false;
    fault ??= await writeText(text);
    return fault === null;
  };
  let written: Promise<unknown> = Promise.resolve();
  return {
    write: (text) => void (written = Promise.all([written, writeAll(text)])),
    writeAll,
    finish: async () => {
      await written;
      if (fault === null || fault.code === 'EPIPE') return;
      throw new CommandError(
        `the standard output cannot be written: ${fault.message}; what was written is not complete`,
      );
    },
  };
}

/** Whether the output is a file or a device, to which the stream of Node.js may write a part of a text without an error. */
function isFile(descriptor: number): boolean {
  const status = fstatSync(descriptor);
  return status.isFile() || status.isCharacterDevice();
}

function writeToFile(text: string): Promise<NodeJS.ErrnoException | null> {
  try {
    for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(process.stdout.fd, rest));
    return Promise.resolve(null);
  } catch (error) {
    return Promise.resolve(error as NodeJS.ErrnoException);
  }
}

function writeToStream(text: string): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => process.stdout.write(text, (error) => resolve(error ?? null)));
}

const endSignals: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const interruptListeners: ((signal: EndSignal) => void)[] = [];
let lastSignal: EndSignal = 'SIGINT';

function interrupt(signal: NodeJS.Signals): void {
  lastSignal = signal as EndSignal;
  interruptListeners.at(-1)?.(lastSignal);
}

/** Returns the exit code of a process that a signal has ended, as of shells: 130 for Ctrl-C, 143 for SIGTERM. */
export function signalExitCode(): number {
  return 128 + constants.signals[lastSignal];
}

function onInterrupt(listener: (signal: EndSignal) => void): () => void {
  if (interruptListeners.length === 0) for (const signal of endSignals) process.on(signal, interrupt);
  interruptListeners.push(listener);
  return () => {
    interruptListeners.splice(interruptListeners.lastIndexOf(listener), 1);
    if (interruptListeners.length === 0) for (const signal of endSignals) process.off(signal, interrupt);
  };
}

/** Returns false for `NO_COLOR` with any value (no-color.org), and for a terminal without escape sequences. */
export function wantsColors(environment: Environment): boolean {
  return (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
}
