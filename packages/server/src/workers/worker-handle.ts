/** A worker process, as the primary process sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ProcessContext } from '../process-context.ts';
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

export type SpawnWorker = () => WorkerHandle;

/**
 * Returns a function that starts a process without arguments: those of this process may have secrets. The function throws a `WorkerCrash`
 * when this process has too many open files.
 */
export function workerSpawner({ stdout, stderr }: Pick<ProcessContext, 'stdout' | 'stderr'>): SpawnWorker {
  return () => {
    const child = fork(workerProgram, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // A message to a process that has just exited; `close` follows.
    child.on('error', () => undefined);
    // Node.js creates no pipes when the operating system has no file left for them.
    if (child.stdout === undefined || child.stderr === undefined) throw new WorkerCrash(noFiles);
    forwardLines(child.stdout!, stdout);
    forwardLines(child.stderr!, stderr);
    return {
      channel: new Channel({
        send: (message, done, socket) => sendTo(child, { message, socket }, done),
        receive: (listener) => void child.on('message', listener),
      }),
      pid: child.pid ?? 0,
      exited: new Promise((resolve) => {
        child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
      }),
      kill: () => void child.kill('SIGKILL'),
    };
  };
}

const noFiles =
  'a worker cannot start, as this process has too many open files; raise its limit (ulimit -n, or LimitNOFILE of systemd)';

/** Node.js would close the socket when the process has received it, and never if the process exits before: the caller closes it. */
function sendTo(
  child: ChildProcess,
  { message, socket }: { readonly message: object; readonly socket: Socket | undefined },
  done: (error: Error | null) => void,
): void {
  if (child.connected) child.send(message, socket, { keepOpen: true }, done);
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
