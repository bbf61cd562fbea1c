import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { oncePerRun } from './once-per-run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the programs of this checkout for tests that run them, once for all files of a run. */
export function build(): Promise<void> {
  return oncePerRun('build', async () => {
    const run = (...args: readonly string[]): Promise<unknown> => promisify(execFile)(process.execPath, args);
    await run(`${root}node_modules/typescript/bin/tsc`, '-b', `${root}packages/server`, `${root}packages/scout`);
    await run(`${root}build/bundle.js`);
  });
}
