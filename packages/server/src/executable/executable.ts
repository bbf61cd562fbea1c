/** The program of the executable. */
import { createProcessContext } from '../process-context.ts';
import { run } from '../cli/run.ts';
import { workerProgram } from './package-files.ts';

async function main(args: readonly string[]): Promise<number> {
  // The channel to the primary process.
  if (!process.connected || args[0] !== workerProgram) return run(args, process.env, createProcessContext());
  const { runWorker } = await import('../cli/worker.ts');
  return runWorker();
}

void main(process.argv.slice(2)).then((exitCode) => {
  // All components have stopped: remaining handles must not keep the process alive.
  process.exit(exitCode);
});
