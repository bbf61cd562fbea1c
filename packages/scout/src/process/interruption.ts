/** The end of a command by Ctrl-C. */
import { setTimeout } from 'node:timers/promises';
import type { ProcessContext } from './process-context.ts';

/** The exit code of a command that Ctrl-C has ended, as of shells. */
export const interruptedCode = 130;

/** Milliseconds for a command to cancel its statement and to complete the file that it writes. */
const gracePeriodMs = 2_000;

/** Runs a command with a signal that Ctrl-C aborts. A second Ctrl-C, or the end of the grace period, ends the wait for the command. */
export async function runInterruptibly(
  process: ProcessContext,
  run: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const [first, second] = [new AbortController(), new AbortController()];
  const remove = process.onInterrupt(() => {
    if (first.signal.aborted) second.abort();
    first.abort();
  });
  const interrupted = aborted(first.signal).then(async () => {
    await setTimeout(gracePeriodMs, undefined, { ref: false, signal: second.signal }).catch(() => {});
    return interruptedCode;
  });
  // The error of a command that was interrupted is that of its cancelled statement.
  const command = run(first.signal).catch((error: unknown) => {
    if (first.signal.aborted) return interruptedCode;
    throw error;
  });
  try {
    return await Promise.race([command, interrupted]);
  } finally {
    remove();
  }
}

/** Waits for a result that has no other way to end early. @throws the reason of the signal when it is aborted first */
export function untilAborted<Result>(signal: AbortSignal, result: Promise<Result>): Promise<Result> {
  const abort = async (): Promise<never> => {
    await aborted(signal);
    throw signal.reason;
  };
  return Promise.race([result, abort()]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
