/** A worker process: serves requests as the primary process tells it to. */
import { Readable } from 'node:stream';
import { OptionsError, StartError } from '@pgway/core';
import type { Serving, Task, WorkerPart } from './command-context.ts';
import { runCommand } from './commands.ts';
import { errorMessage } from '../expected-error.ts';
import { onProcessExit, type ProcessContext, type StopMode, writeStdoutSync } from '../process-context.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { AllMetrics } from '../metrics/aggregate.ts';
import { timeouts } from '../start.ts';
import { Channel } from '../workers/channel.ts';
import { openSharedServices } from '../workers/shared-services.ts';
import { listenThroughPrimary } from '../workers/worker-listener.ts';
import {
  type Announcement,
  answerTimeouts,
  type StartFailure,
  type StartResult,
  type StopOrder,
  toPrimary,
  toWorker,
  type WorkersState,
  type WorkerStart,
} from '../workers/topics.ts';

/** Runs the worker until it is told to stop. Returns the exit code. */
export async function runWorker(): Promise<number> {
  // A terminal and some service managers signal all processes: the primary process decides.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // The primary process has ended: there are no further connections.
  process.once('disconnect', () => process.exit());
  const channel = new Channel({
    send: (message, done) => {
      if (process.connected) process.send!(message, undefined, undefined, done);
      else done(new Error('not connected'));
    },
    receive: (listener) => void process.on('message', listener),
  });
  channel.handle(toWorker.ping, () => null);
  const code = await new Promise<number>((resolve) => {
    channel.handle<WorkerStart>(
      toWorker.start,
      (start) => new Promise<StartResult>((answer) => void serve(channel, start, answer).then(resolve)),
    );
    channel.tell(toPrimary.online);
  });
  await channel.flush();
  return code;
}

/** @param answer called when the server listens, or cannot start */
async function serve(channel: Channel, start: WorkerStart, answer: (result: StartResult) => void): Promise<number> {
  let isServing = false;
  const stop = new StopRequests(channel);
  try {
    const part = await createPart(channel, start, (serving) => {
      isServing = true;
      stop.retireWith(serving, start);
      channel.handle<Announcement>(toWorker.announce, ({ startupMs }) => serving.announce(startupMs));
      answer({ ok: true });
    });
    const code = await runCommand(taskOf(start), loadedOf(start), workerContext(channel, start, stop), part);
    answer({ ok: false, message: 'stopped', exitCode: code, isStartError: false });
    return code;
  } catch (error) {
    if (isServing) process.stderr.write(`pgway: ${errorMessage(error)}\n`);
    else answer(startFailure(error));
    return 1;
  }
}

async function createPart(
  channel: Channel,
  { worker, workers, announces, configuration, connectionString }: WorkerStart,
  onServing: (serving: Serving) => void,
): Promise<WorkerPart> {
  let state: WorkersState = { running: 1, configured: workers, leads: announces };
  channel.handle<WorkersState>(toWorker.state, (current) => void (state = current));
  return {
    worker,
    workers,
    announces,
    connectionString,
    shared: await openSharedServices(channel, configuration, { processes: workers, leads: () => state.leads }),
    logFile: {
      write: (blocks) => channel.ask<number>(toPrimary.writeLogFile, blocks, answerTimeouts.log, sizeOf(blocks)),
      close: () => Promise.resolve(),
    },
    state: () => state,
    metrics: {
      provide: (read) => channel.handle(toWorker.metrics, read),
      readAll: () => channel.ask<AllMetrics>(toPrimary.readMetrics, null, answerTimeouts.primary),
    },
    listenOn: listenThroughPrimary(channel, configuration.limits),
    onServing,
  };
}

function sizeOf(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((sum, block) => sum + block.length, 0);
}

function taskOf({ watches }: WorkerStart): Task {
  return { command: 'serve', flags: new Set(watches ? ['watch'] : []), filter: null, operands: [] };
}

/** The primary process has printed the warnings. */
function loadedOf({ configuration }: WorkerStart): LoadedConfiguration {
  return {
    configuration,
    files: [],
    environmentName: null,
    origins: new Map(),
    encrypted: new Set(),
    pgVariables: [],
    warnings: [],
  };
}

function workerContext(
  channel: Channel,
  { workingDirectory, columns }: WorkerStart,
  stop: StopRequests,
): ProcessContext {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    stdin: Readable.from([]),
    stdout: { write: (text) => void process.stdout.write(text) },
    stderr: { write: (text) => void process.stderr.write(text) },
    // One process writes, so that lines do not mix.
    writeLog: (lines) => channel.ask<void>(toPrimary.writeConsole, lines, answerTimeouts.log, lines.length),
    // The primary passes its output on.
    writeLogSync: writeStdoutSync,
    onExit: onProcessExit,
    columns,
    workingDirectory,
    onStop: (listener) => stop.listen(listener),
    onReload: () => () => undefined,
  };
}

/** Receives the orders of the primary process to stop or retire. */
class StopRequests {
  #listener: (mode: StopMode) => void = () => undefined;
  #requested: StopMode | null = null;
  #isRetiring = false;

  constructor(channel: Channel) {
    channel.handle<StopOrder>(toWorker.stop, ({ force }) => this.#request(force ? 'forced' : 'graceful'));
    channel.handle(toWorker.retire, () => this.#retire());
  }

  listen(listener: (mode: StopMode) => void): () => void {
    this.#listener = listener;
    if (this.#requested !== null) listener(this.#requested);
    return () => (this.#listener = () => undefined);
  }

  /** Lets the clients of the server finish, before a worker that was replaced stops. */
  retireWith({ server, gateway }: Serving, { configuration: { limits } }: WorkerStart): void {
    this.#retire = () => {
      if (this.#isRetiring) return;
      this.#isRetiring = true;
      gateway.endStreams();
      // Clients may use an idle connection for so long.
      const limitMs = limits.keepAliveTimeout * 1000 + timeouts.drain;
      void server.retire(limitMs).then(() => this.#request('graceful'));
    };
  }

  #retire = (): void => this.#request('graceful');

  #request(mode: StopMode): void {
    this.#requested = mode;
    this.#listener(mode);
  }
}

function startFailure(error: unknown): StartFailure {
  const isUsageError = error instanceof ConfigurationError || error instanceof OptionsError;
  return {
    ok: false,
    message: errorMessage(error),
    exitCode: isUsageError ? 2 : 1,
    isStartError: error instanceof StartError,
  };
}
