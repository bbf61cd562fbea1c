/** The program of the thread. Builds into one file and test runs, which have no file of it, replace this module. */
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts the thread. The path is the one in `dist`, where all modules are in one folder. */
export function startReaderThread(options: WorkerOptions): Worker {
  return new Worker(new URL('./reader-thread.js', import.meta.url), options);
}
