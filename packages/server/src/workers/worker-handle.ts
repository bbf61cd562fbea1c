/** A worker process, as the primary process sees it. */
import cluster, { type Worker } from 'node:cluster';
import type { Readable } from 'node:stream';
import type { ProcessContext } from '../cli/process-context.ts';
import { workerProgram } from '../package-files.ts';
import { Channel } from './channel.ts';
import { WorkerCrash } from './worker-errors.ts';

export interface WorkerHandle {
  readonly channel: Channel;
  readonly pid: number;
  /** Resolves with the exit code or the signal, as in `exit code 1`, when the process has exited and its output has been passed on. */
  readonly exited: Promise<string>;
  kill(): void;
}

/**
 * Returns a function that starts a process without arguments: those of this process may have secrets. The function throws a `WorkerCrash`
 * when this process has too many open files.
 */
export function workerSpawner({ stdout, stderr }: Pick<ProcessContext, 'stdout' | 'stderr'>): () => WorkerHandle {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: workerProgram,
    args: [],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return () => {
    const worker = cluster.fork();
    // A message to a process that has just exited; `close` follows.
    worker.on('error', () => undefined);
    const streams = worker.process;
    // Node.js creates no pipes when the operating system has no file left for them.
    if (streams.stdout === undefined || streams.stderr === undefined) throw noFiles(worker);
    forwardLines(streams.stdout!, stdout);
    forwardLines(streams.stderr!, stderr);
    return {
      channel: new Channel({
        send: (message, done) => sendTo(worker, message, done),
        receive: (listener) => void worker.on('message', listener),
      }),
      pid: worker.process.pid ?? 0,
      exited: new Promise((resolve) => {
        worker.process.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
      }),
      kill: () => void worker.process.kill('SIGKILL'),
    };
  };
}

function noFiles({ id }: Worker): WorkerCrash {
  // No event of the process follows that would remove it.
  delete cluster.workers![id];
  return new WorkerCrash(
    'a worker cannot start, as this process has too many open files; raise its limit (ulimit -n, or LimitNOFILE of systemd)',
  );
}

function sendTo(worker: Worker, message: object, done: (error: Error | null) => void): void {
  if (worker.isConnected()) worker.send(message, done);
  else done(new Error('not connected'));
}

/** Characters of a line that is passed on without its end. */
const maxLineLength = 1024 * 1024;

/** Passes complete lines on: the output of several processes would mix lines. Exported for its test. */
export function forwardLines(input: Readable, output: ProcessContext['stdout']): void {
  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) output.write(rest + chunk.slice(0, end));
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
    if (rest.length <= maxLineLength) return;
    output.write(`${rest}\n`);
    rest = '';
  });
  input.on('end', () => {
    if (rest !== '') output.write(`${rest}\n`);
  });
  input.on('error', () => undefined);
}
