import type { StopWish, Streams } from '../../src/cli/streams.ts';

/** Streams that a test reads, with a stop that a test wishes. */
export interface CollectedStreams extends Streams {
  readonly text: { stdout: string; stderr: string };
  /** Waits until the standard output has the text. */
  until(text: string | RegExp): Promise<void>;
  wish(wish: StopWish): void;
}

export function collectStreams(workingDirectory: string, columns: number | null = null): CollectedStreams {
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<(wish: StopWish) => void>();
  let written: () => void = () => undefined;
  const until = async (wanted: string | RegExp): Promise<void> => {
    while (text.stdout.match(wanted) === null) await new Promise<void>((resolve) => (written = resolve));
  };
  return {
    text,
    until,
    columns,
    workingDirectory,
    wish: (wish) => listeners.forEach((listener) => listener(wish)),
    stdout: {
      write: (chunk) => {
        text.stdout += chunk;
        written();
      },
    },
    stderr: { write: (chunk) => void (text.stderr += chunk) },
    onStop: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
