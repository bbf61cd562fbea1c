/** The streams and signals of this process. */
import { watchAncestors } from './ancestors.ts';
import type { StopWish, Streams } from './streams.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
// npm passes on a Ctrl-C that the terminal has already sent to the whole group: that is one wish, not two.
const sameWishWithin = 500;

export function processStreams(): Streams {
  // A reader that went away (`pgway | head`) must not end the server.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    stdout: { write: (text) => void process.stdout.write(text) },
    stderr: { write: (text) => void process.stderr.write(text) },
    columns: columnsOf(process.stdout),
    workingDirectory: process.cwd(),
    onStop: listenForStop,
  };
}

/** Some terminals do not know how wide they are, and say 0. */
export function columnsOf({ isTTY, columns }: { readonly isTTY: boolean; readonly columns?: number }): number | null {
  return isTTY && columns !== undefined && columns > 0 ? columns : null;
}

function listenForStop(listener: (wish: StopWish) => void): () => void {
  let first: number | null = null;
  const stop = (): void => {
    const now = performance.now();
    if (first === null) {
      first = now;
      listener('gracefully');
    } else if (now - first > sameWishWithin) {
      listener('at once');
    }
  };
  for (const signal of signals) process.on(signal, stop);
  const ignoreAncestors = watchAncestors(stop);
  return () => {
    for (const signal of signals) process.off(signal, stop);
    ignoreAncestors();
  };
}
