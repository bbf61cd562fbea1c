import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import type { StopMode, ProcessContext } from '../../src/process-context.ts';

/** A process context that collects the output and sends stop signals for a test. */
export interface TestProcess extends ProcessContext {
  readonly text: { stdout: string; stderr: string };
  /** Waits until the standard output has the text. */
  until(text: string | RegExp): Promise<void>;
  sendStop(mode: StopMode): void;
  sendReload(): void;
}

/** @param input the standard input: a text, or a terminal of the test */
export function createTestProcess(
  workingDirectory: string,
  columns: number | null = null,
  input: ProcessContext['stdin'] | string = '',
): TestProcess {
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<(mode: StopMode) => void>();
  const reloads = new Set<() => void>();
  const written = new EventEmitter();
  const until = async (wanted: string | RegExp): Promise<void> => {
    while (text.stdout.match(wanted) === null) await once(written, 'written');
  };
  const writeOut = (chunk: string): void => {
    text.stdout += chunk;
    written.emit('written');
  };
  return {
    stdin: typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input,
    text,
    until,
    columns,
    workingDirectory,
    sendStop: (mode) => listeners.forEach((listener) => listener(mode)),
    stdout: { write: writeOut },
    writeLog: async (lines) => writeOut(Buffer.from(lines).toString()),
    writeLogSync: (lines) => writeOut(Buffer.from(lines).toString()),
    onExit: () => () => undefined,
    stderr: { write: (chunk) => void (text.stderr += chunk) },
    sendReload: () => reloads.forEach((reload) => reload()),
    onReload: (listener) => {
      reloads.add(listener);
      return () => reloads.delete(listener);
    },
    onStop: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
