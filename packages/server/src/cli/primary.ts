/** The primary process: it has the database of the example, the configuration and the listeners, and serves nothing itself. */
import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { CommandContext } from './command-context.ts';
import { errorMessage } from '../expected-error.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import type { Configuration } from '../config/schema.ts';
import { whenAborted } from '../lifecycle.ts';
import { openLogDatabases, startDatabase, timeouts } from '../start.ts';
import { openCertificateStore } from '../tls/certificate-store.ts';
import { gatewayOptions } from '../gateway-options.ts';
import { ChangeRelay, type OpenChangeFeed } from '../workers/change-relay.ts';
import { SharedState } from '../workers/shared-state.ts';
import { Supervisor, type WorkersPlan } from '../workers/supervisor.ts';
import { countWorkers, workerConfiguration } from '../workers/worker-count.ts';
import { workerSpawner } from '../workers/worker-handle.ts';

/** Runs the server in workers until the stop signal. Returns the exit code. */
export async function runPrimary(context: CommandContext, count: number): Promise<number> {
  const { lifecycle, loaded, reporter, process } = context;
  const { configuration } = loaded;
  const { workingDirectory } = process;
  for (const warning of loaded.warnings) reporter.warning(warning);
  // The first worker prints its warnings.
  await openCertificateStore(configuration, workingDirectory, reporter);
  const connectionString = await startDatabase(lifecycle, configuration, {
    workingDirectory,
    progress: reporter.progress,
  });
  await openLogDatabases(lifecycle, reporter.outputs, connectionString);
  const planOf = (current: Configuration, workers: number): WorkersPlan =>
    createPlan(context, current, { workers, connectionString: current.connectionString ?? connectionString });
  const feedOf = (current: Configuration, processes: number): OpenChangeFeed =>
    feedOpener(context, current, { processes, connectionString: current.connectionString ?? connectionString });
  const changes = await startChanges(context, feedOf(configuration, count));
  const outputs = { writeLog: process.writeLog, file: reporter.outputs.file };
  const shared = new SharedState(configuration, outputs, changes);
  const supervisor = new Supervisor({ spawn: workerSpawner(process), shared, log: reporter });
  await startWorkers(context, supervisor, planOf(configuration, count));
  await supervisor.startOthers();
  reporter.started();
  const removeReload = process.onReload(
    reloader(context, async (next, workers) => {
      const undo = changes.configure(feedOf(next, workers));
      try {
        await supervisor.replace(planOf(next, workers));
      } catch (error) {
        undo();
        throw error;
      }
      shared.configure(next);
    }),
  );
  await whenAborted(lifecycle.stopSignal);
  removeReload();
  reporter.stopping();
  return 0;
}

/** Returns a function that reads the log of the database, for all workers of a configuration. */
function feedOpener(
  { reporter }: CommandContext,
  configuration: Configuration,
  { processes, connectionString }: { readonly processes: number; readonly connectionString: string },
): OpenChangeFeed {
  return async () => {
    const { openChangeFeed } = await import('@pgway/core/internal');
    const options = await gatewayOptions(configuration, connectionString, { observer: reporter.observer });
    return openChangeFeed({ ...options, processes });
  };
}

/** The log is closed after the workers, and before the database stops. */
function startChanges({ lifecycle }: CommandContext, open: OpenChangeFeed): Promise<ChangeRelay> {
  return lifecycle.start({
    name: 'the changes of rows',
    startTimeoutMs: 1_000,
    start: () => Promise.resolve(new ChangeRelay(open)),
    stopTimeoutMs: 10_000,
    stop: (relay) => relay.close(),
  });
}

function startWorkers({ lifecycle }: CommandContext, supervisor: Supervisor, plan: WorkersPlan): Promise<Supervisor> {
  void whenAborted(lifecycle.stopSignal).then(() => supervisor.interrupt());
  return lifecycle.start({
    name: 'the workers',
    // Some attempts more.
    startTimeoutMs: 3 * plan.startTimeoutMs,
    start: async () => {
      try {
        await supervisor.start(plan);
        return supervisor;
      } catch (error) {
        await supervisor.stop(AbortSignal.abort());
        throw error;
      }
    },
    stopTimeoutMs: plan.stopTimeoutMs + 2000,
    // Without the database that has failed, requests cannot be finished.
    stop: (started, force) => started.stop(lifecycle.failure === null ? force : AbortSignal.abort()),
  });
}

interface PlanInput {
  readonly workers: number;
  readonly connectionString: string;
}

function createPlan(
  { process, task }: CommandContext,
  configuration: Configuration,
  { workers, connectionString }: PlanInput,
): WorkersPlan {
  const { gateway, shutdownDelay } = configuration;
  const { workingDirectory, columns } = process;
  const own = workerConfiguration(configuration, workers);
  const watches = task.flags.has('watch');
  return {
    count: workers,
    startOf: (worker, announces) => ({
      worker,
      workers,
      announces,
      configuration: own,
      connectionString,
      workingDirectory,
      columns,
      watches,
    }),
    startTimeoutMs: timeouts.startGateway + timeouts.startServer + gateway.startRetry * 1000,
    stopTimeoutMs:
      shutdownDelay * 1000 + timeouts.drain + 2000 + timeouts.stopGateway + 2 * timeouts.stopLog + timeouts.startServer,
  };
}

/** Returns a function that reloads the configuration; a call during a reload is followed by one more. */
function reloader(
  context: CommandContext,
  replaceWorkers: (configuration: Configuration, workers: number) => Promise<void>,
): () => void {
  const { reporter } = context;
  let current = context.loaded.configuration;
  let state: 'idle' | 'running' | 'requested' = 'idle';
  const reload = async (): Promise<void> => {
    try {
      const next = await loadChanged(context, current);
      const workers = countWorkers(next, availableParallelism());
      if (workers.warning !== null) reporter.warning(workers.warning);
      await replaceWorkers(next, workers.count);
      current = next;
      reporter.info('the new workers have taken over');
    } catch (error) {
      const lines = error instanceof ConfigurationError ? error.issues : errorMessage(error).split('\n');
      for (const line of lines) reporter.error(`the workers stay as they are: ${line}`);
    }
  };
  const run = async (): Promise<void> => {
    while (state === 'requested') {
      state = 'running';
      // One reload after the other.
      await reload();
      if ((state as string) !== 'requested') state = 'idle';
    }
  };
  return () => {
    reporter.info('SIGHUP: reading the configuration again, and starting new workers');
    const isRunning = state !== 'idle';
    state = 'requested';
    if (!isRunning) void run();
  };
}

/**
 * Loads the configuration, with the settings of the primary as they are.
 * @throws ConfigurationError
 */
async function loadChanged(
  { task, reporter, process }: CommandContext,
  current: Configuration,
): Promise<Configuration> {
  const loaded: LoadedConfiguration = await task.reload!();
  for (const warning of loaded.warnings) reporter.warning(warning);
  const { configuration, fixed } = withFixedSettings(loaded.configuration, current);
  for (const setting of fixed) reporter.warning(`${setting} has changed, which needs a restart`);
  await openCertificateStore(configuration, process.workingDirectory, reporter);
  return configuration;
}

/** The settings that the primary process uses itself. */
const fixedSettings = ['host', 'port', 'embedded', 'log', 'shutdownDelay'] as const;

/** Returns the configuration with the settings that cannot change, and the names of those that would have. */
export function withFixedSettings(
  next: Configuration,
  current: Configuration,
): { readonly configuration: Configuration; readonly fixed: readonly string[] } {
  // The embedded database runs as long as the primary.
  const isOtherDatabase = (next.connectionString === null) !== (current.connectionString === null);
  const database = isOtherDatabase ? { connectionString: current.connectionString } : {};
  const kept = Object.fromEntries(fixedSettings.map((name) => [name, current[name]]));
  return {
    configuration: { ...next, ...database, ...kept } as Configuration,
    fixed: [
      ...(isOtherDatabase ? ['connectionString'] : []),
      ...fixedSettings.filter((name) => !isDeepStrictEqual(next[name], current[name])),
    ],
  };
}
