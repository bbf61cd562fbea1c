/** The progress of a command as one line on a terminal, which is rewritten and then removed. */
import { escapeControlCharacters, truncate } from '@pgway/core/terminal';
import type { ProcessContext } from '../process/process-context.ts';
import type { Progress } from './progress.ts';

/** Milliseconds. Shorter commands show nothing. */
const delay = 500;
/** Milliseconds between two texts. */
const interval = 100;

export interface ProgressLine extends Progress {
  /** The process whose outputs on the terminal remove the line first. */
  readonly process: ProcessContext;
  /** Removes the line, for good. */
  readonly end: () => void;
}

/** @param columns those of the terminal of the standard error */
export function createProgressLine(context: ProcessContext, columns: number): ProgressLine {
  const { stdout, stderr } = context;
  let text = '';
  let begin: number | null = null;
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;
  let isEnded = false;
  /** The line must not follow a part of another one. */
  let isLineStart = true;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001b[K');
    isShown = false;
  };
  const draw = (): void => {
    const now = performance.now();
    const elapsed = now - begin!;
    if (isEnded || elapsed < delay || now - drawn < interval || !isLineStart) return;
    drawn = now;
    const line = escapeControlCharacters(`${text} (${Math.floor(elapsed / 1000)} s)`);
    stderr.write(`\r${truncate(line, columns - 1)}\u001b[K`);
    isShown = true;
  };
  const before = (other: string): string => {
    clear();
    if (other !== '') isLineStart = other.endsWith('\n');
    return other;
  };
  return {
    isShown: true,
    show: (next) => {
      text = next;
      begin ??= performance.now();
      timer ??= setInterval(draw, interval).unref();
      draw();
    },
    end: () => {
      isEnded = true;
      clearInterval(timer);
      clear();
    },
    process: {
      ...context,
      // An output that is not the terminal does not move the line.
      ...(context.columns === null
        ? {}
        : {
            stdout: {
              write: (other) => stdout.write(before(other)),
              writeAll: (other) => stdout.writeAll(before(other)),
              finish: () => stdout.finish(),
            },
          }),
      stderr: { write: (other) => stderr.write(before(other)) },
    },
  };
}
