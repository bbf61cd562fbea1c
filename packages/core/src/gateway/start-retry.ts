import { setTimeout as sleep } from 'node:timers/promises';
import { AcquireTimeout, ConnectionLost, DatabaseError, ConnectionSetupError } from '../postgres/port.ts';

/** Milliseconds. */
const [minDelay, maxDelay] = [100, 1_000];

/** Runs a step of the start, and again while its database is unavailable. */
export type RetryStep = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Returns a function that retries steps of the start until `startRetry` seconds have passed from now.
 * A connection can be lost in every step, also after the first one has succeeded.
 */
export function startRetry(seconds: number): RetryStep {
  const deadline = performance.now() + seconds * 1_000;
  return async (step) => {
    for (let delay = minDelay; ; delay = Math.min(maxDelay, delay * 2)) {
      try {
        // Attempts run one after the other.
        return await step();
      } catch (error) {
        if (!isTransient(error) || performance.now() + delay > deadline) throw error;
        await sleep(delay);
      }
    }
  };
}

/** Whether a retry may help: the server is unreachable, starting, or has no free connection (57P0x, 53300), or the connection was lost. */
function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionSetupError) return false;
  if (error instanceof DatabaseError) return /^(57P|53300)/.test(error.diagnostics.code);
  return error instanceof ConnectionLost || error instanceof AcquireTimeout;
}
