/** The program of worker processes. */
import { runWorker } from './cli/worker.ts';

process.exitCode = await runWorker();
// All components have stopped: remaining handles must not keep the process alive.
process.exit();
