/**
 * Under `npm start`, npm and its shell stand between the user and this program. When one of them is killed, nobody passes
 * signals on any more, and the program would stay behind with its port. So it watches them, and stops when one is gone.
 */
import { readFileSync } from 'node:fs';

const interval = 500;

/** Calls the listener once when npm or its shell is gone. Does nothing when npm did not start this process. */
export function watchAncestors(listener: () => void): () => void {
  if (process.env['npm_lifecycle_event'] === undefined) return () => {};
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    clearInterval(timer);
    listener();
  }, interval);
  timer.unref();
  return () => clearInterval(timer);
}

/** The parent of a process; null where there is no `/proc` to ask. */
function parentOf(process: number): number | null {
  try {
    const status = readFileSync(`/proc/${process}/status`, 'utf8');
    return Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1]);
  } catch {
    return null;
  }
}
