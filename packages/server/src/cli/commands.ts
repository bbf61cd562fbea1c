/** The commands of the program that need a configuration. */
import { availableParallelism } from 'node:os';
import type { Gateway } from '@pgway/core';
import { createApiDocsHandler, createApiDocsPage } from '../pages/api-docs.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { servedDiagnostics, needsDefinitions } from '../generated-files.ts';
import { createExamplePageHandler, hasExample } from '../example/example-page.ts';
import { Lifecycle, StartInterrupted, whenAborted } from '../lifecycle.ts';
import { startHttpServer } from '../start.ts';
import { createMcpHandler } from '../mcp/mcp-handler.ts';
import { createSignInPage } from '../pages/sign-in-page.ts';
import { createStartPage } from '../pages/start-page.ts';
import { openTelemetry, type Telemetry } from '../telemetry.ts';
import { openCertificateStore } from '../tls/certificate-store.ts';
import { countWorkers } from '../workers/worker-count.ts';
import { workerReporter } from './worker-reporter.ts';
import type { CommandContext, Task, WorkerPart } from './command-context.ts';
import { runEndpoints } from './endpoints-command.ts';
import { type CatalogWatch, createCatalogWatch } from './catalog-watch.ts';
import { errorMessage } from '../expected-error.ts';
import { needsPolls, runGenerate } from './generate-command.ts';
import { runInstall } from './install/install-command.ts';
import { openGateway, type OpenedGateway } from './open-gateway.ts';
import { unreachableEndpoints } from './unreachable-endpoints.ts';
import { type ProcessContext, withEarlyReloads } from '../process-context.ts';
import { createStartupReporter } from './startup-reporter.ts';
import { runTests } from './test-command.ts';
import { runValidate } from './validate-command.ts';

/** Runs the command, then stops all components. Returns the exit code. */
export async function runCommand(
  task: Task,
  loaded: LoadedConfiguration,
  process: ProcessContext,
  worker: WorkerPart | null = null,
): Promise<number> {
  const lifecycle = new Lifecycle();
  const removeListener = process.onStop((mode) => {
    if (mode === 'forced') lifecycle.forceStop();
    else lifecycle.requestStop();
  });
  const isForced = task.command !== 'serve';
  const ownReporter = createStartupReporter(loaded.configuration, process, isForced, worker ?? undefined);
  const reporter = worker === null ? ownReporter : workerReporter(ownReporter, worker);
  try {
    const code = await dispatch({ task, process, loaded, lifecycle, reporter, worker });
    if (lifecycle.failure !== null) throw lifecycle.failure;
    return code;
  } catch (error) {
    if (lifecycle.failure !== null) throw lifecycle.failure;
    if (error instanceof StartInterrupted) return 0;
    throw error;
  } finally {
    for (const failure of await lifecycle.stop()) process.stderr.write(`pgway: ${errorMessage(failure)}\n`);
    await reporter.outputs.close();
    removeListener();
  }
}

function dispatch(context: CommandContext): Promise<number> {
  switch (context.task.command) {
    case 'serve':
      return serve(context);
    case 'generate':
      return runGenerate(context);
    case 'validate':
      return runValidate(context);
    case 'endpoints':
      return runEndpoints(context);
    case 'test':
      return runTests(context);
    case 'install':
      return runInstall(context);
  }
}

/** Serves in this process, or in several workers. */
async function serve(commandContext: CommandContext): Promise<number> {
  const context = { ...commandContext, process: withEarlyReloads(commandContext.process) };
  const { loaded, worker, reporter } = context;
  if (worker !== null) return runServer(context);
  const workers = countWorkers(loaded.configuration, availableParallelism());
  if (workers.warning !== null) reporter.warning(workers.warning);
  if (workers.count === 1) return runServer(context);
  // One process does not need it, and would load it at every start.
  const { runPrimary } = await import('./primary.ts');
  return runPrimary(context, workers.count);
}

function openServedGateway(
  context: CommandContext,
  watch: CatalogWatch | null,
  { observer, gatewayOptions }: Telemetry,
): Promise<OpenedGateway> {
  const { configuration } = context.loaded;
  return openGateway(context, {
    observer,
    ...gatewayOptions,
    observeRequests: context.reporter.requestLog !== null,
    readDefinitions: needsDefinitions(configuration),
    endpointCreateHandlers: [
      (endpoints) => servedDiagnostics(endpoints, configuration),
      ...(watch === null ? [] : [watch.compare]),
    ],
    ...watch?.options,
    ...(context.worker === null ? {} : { shared: context.worker.shared }),
  });
}

/** Waits for the stop signal. With `--watch`, polls the catalog until then, unless notifications tell of changes. */
function waitForStop(
  { lifecycle: { stopSignal }, loaded, worker }: CommandContext,
  gateway: Gateway,
  watch: CatalogWatch | null,
): Promise<void> {
  const isEnabled = (): boolean => worker?.state().leads ?? true;
  const polls = watch !== null && needsPolls(loaded.configuration);
  return polls ? watch.poll(gateway, { stopSignal, isEnabled }) : whenAborted(stopSignal);
}

/** One process has no others that could serve meanwhile: it reads the endpoints again, and keeps its configuration. */
function reloadEndpoints({ process, reporter }: CommandContext, gateway: Gateway): () => void {
  return process.onReload(() => {
    reporter.info('SIGHUP: reading the endpoints again; a changed configuration needs a restart, or 2 workers');
    gateway.refresh().catch((error: unknown) => reporter.error(`the endpoints stay: ${errorMessage(error)}`));
  });
}

async function runServer(context: CommandContext): Promise<number> {
  const { lifecycle, loaded, reporter, worker } = context;
  const begin = performance.now();
  for (const warning of loaded.warnings) reporter.warning(warning);
  const certificates = await openCertificateStore(loaded.configuration, context.process.workingDirectory, reporter);
  for (const warning of certificates?.warnings ?? []) reporter.warning(warning);
  const watch = context.task.flags.has('watch') ? createCatalogWatch(reporter.progress) : null;
  const fastPath = { requests: 0, handOvers: 0 };
  const telemetry = await openTelemetry(lifecycle, loaded.configuration, { ...reporter, worker, fastPath });
  const { gateway, connectionString } = await openServedGateway(context, watch, telemetry);
  telemetry.addGateway(gateway);
  const handlers = [createApiDocsHandler(loaded.configuration, connectionString)];
  const mcp = createMcpHandler(loaded.configuration, gateway, reporter.requestFailed);
  if (hasExample(loaded.configuration)) handlers.push(createExamplePageHandler(loaded.configuration));
  const server = await startHttpServer(lifecycle, loaded.configuration, gateway, {
    handlers,
    pages: [
      createStartPage(loaded.configuration, connectionString),
      createApiDocsPage(loaded.configuration, connectionString),
      createSignInPage(loaded.configuration),
    ],
    serveMcp: mcp,
    certificates,
    fastPathCounts: fastPath,
    onRequest: telemetry.begin,
    serveMetrics: telemetry.serveMetrics,
    workingDirectory: context.process.workingDirectory,
    onError: reporter.requestFailed,
    onWarning: reporter.requestWarning,
    workers: worker?.state ?? null,
    listenOn: worker?.listenOn,
    onRealtime: telemetry.addRealtime,
  });
  for (const warning of unreachableEndpoints(gateway.endpoints, loaded.configuration)) reporter.warning(warning);
  reporter.loaded(gateway);
  const announce = (startupMs: number): void => {
    reporter.ready(gateway, server.port, startupMs);
    if (server.redirectPort !== null)
      reporter.progress(`Requests to port ${server.redirectPort} are redirected to HTTPS.`);
  };
  const removeReload = reloadEndpoints(context, gateway);
  if (worker === null) announce(performance.now() - begin);
  else worker.onServing({ gateway, server, announce });
  await waitForStop(context, gateway, watch);
  removeReload();
  reporter.stopping();
  return 0;
}
