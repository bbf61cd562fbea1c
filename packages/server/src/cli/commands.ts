/** The commands of the program that need a configuration. */
import type { Gateway } from '@pgway/core';
import { createApiDocsHandler } from '../api-docs/api-docs.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { apiDocsDiagnostics, needsDefinitions } from '../generated-files.ts';
import { createExamplePageHandler, hasExample } from '../example/example-page.ts';
import { Lifecycle, StartInterrupted, whenAborted } from '../lifecycle.ts';
import { startHttpServer } from '../start.ts';
import { createStartPage } from '../start-page/start-page.ts';
import { openTelemetry, type Telemetry } from '../telemetry.ts';
import { openCertificateStore } from '../tls/certificate-store.ts';
import type { CommandContext, Task } from './command-context.ts';
import { runEndpoints } from './endpoints-command.ts';
import { type CatalogWatch, createCatalogWatch } from './catalog-watch.ts';
import { errorMessage } from './error-message.ts';
import { runGenerate } from './generate-command.ts';
import { runInstallWatch } from './install-watch-command.ts';
import { openGateway, type OpenedGateway } from './open-gateway.ts';
import { unreachableEndpoints } from './unreachable-endpoints.ts';
import type { ProcessContext } from './process-context.ts';
import { createStartupReporter } from './startup-reporter.ts';
import { runValidate } from './validate-command.ts';

/** Runs the command, then stops all components. Returns the exit code. */
export async function runCommand(task: Task, loaded: LoadedConfiguration, process: ProcessContext): Promise<number> {
  const lifecycle = new Lifecycle();
  const removeListener = process.onStop((mode) => {
    if (mode === 'forced') lifecycle.forceStop();
    else lifecycle.requestStop();
  });
  const reporter = createStartupReporter(loaded.configuration, process, task.command !== 'serve');
  try {
    const code = await dispatch({ task, process, loaded, lifecycle, reporter });
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
      return runServer(context);
    case 'generate':
      return runGenerate(context);
    case 'validate':
      return runValidate(context);
    case 'endpoints':
      return runEndpoints(context);
    case 'install-watch':
      return runInstallWatch(context);
  }
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
      (endpoints) => apiDocsDiagnostics(endpoints, configuration),
      ...(watch === null ? [] : [watch.compare]),
    ],
    ...watch?.options,
  });
}

/** Waits for the stop signal. With `--watch`, polls the catalog until then, unless notifications tell of changes. */
function waitForStop(
  { lifecycle: { stopSignal }, loaded }: CommandContext,
  gateway: Gateway,
  watch: CatalogWatch | null,
): Promise<void> {
  const needsPolls = watch !== null && loaded.configuration.gateway.refreshOnNotify === null;
  return needsPolls ? watch.poll(gateway, stopSignal) : whenAborted(stopSignal);
}

async function runServer(context: CommandContext): Promise<number> {
  const { lifecycle, loaded, reporter } = context;
  const begin = performance.now();
  for (const warning of loaded.warnings) reporter.warning(warning);
  const certificates = await openCertificateStore(loaded.configuration, context.process.workingDirectory, reporter);
  for (const warning of certificates?.warnings ?? []) reporter.warning(warning);
  const watch = context.task.flags.has('watch') ? createCatalogWatch(reporter.progress) : null;
  const telemetry = await openTelemetry(lifecycle, loaded.configuration, reporter);
  const { gateway, connectionString } = await openServedGateway(context, watch, telemetry);
  telemetry.addGateway(gateway);
  const handlers = [createApiDocsHandler(loaded.configuration, connectionString)];
  if (hasExample(loaded.configuration)) handlers.push(createExamplePageHandler(loaded.configuration));
  const server = await startHttpServer(lifecycle, loaded.configuration, gateway, {
    handlers,
    startPage: createStartPage(loaded.configuration, connectionString),
    certificates,
    onRequest: telemetry.begin,
    serveMetrics: telemetry.serveMetrics,
    workingDirectory: context.process.workingDirectory,
    onError: reporter.requestFailed,
  });
  for (const warning of unreachableEndpoints(gateway.endpoints, loaded.configuration)) reporter.warning(warning);
  reporter.loaded(gateway);
  reporter.ready(gateway, server.port, performance.now() - begin);
  if (server.redirectPort !== null)
    reporter.progress(`Requests to port ${server.redirectPort} are redirected to HTTPS.`);
  await waitForStop(context, gateway, watch);
  reporter.stopping();
  return 0;
}
