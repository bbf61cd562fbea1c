/** The commands of the program: serve, check, and those of `pgway generate`. */
import type { Gateway } from '@pgway/core';
import { createApiDocsHandler, shadowedEndpoints } from '../api-docs/api-docs.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { apiDocsDiagnostics, needsDefinitions } from '../generated-files.ts';
import { createExamplePageHandler } from '../example/example-page.ts';
import { Lifecycle, StartInterrupted, whenAborted } from '../lifecycle.ts';
import { hasExample, startDatabase, startGateway, startHttpServer, warnWithoutAuthentication } from '../start.ts';
import type { Command } from './arguments.ts';
import type { CommandContext } from './command-context.ts';
import { errorMessage } from './error-message.ts';
import { runGenerate } from './generate-command.ts';
import type { ProcessContext } from './process-context.ts';
import { createStartupReporter } from './startup-reporter.ts';

/** Runs the command, then stops all components. Returns the exit code. */
export async function runCommand(
  command: Command,
  loaded: LoadedConfiguration,
  process: ProcessContext,
): Promise<number> {
  const lifecycle = new Lifecycle();
  const removeListener = process.onStop((mode) => {
    if (mode === 'forced') lifecycle.forceStop();
    else lifecycle.requestStop();
  });
  const reporter = createStartupReporter(loaded.configuration, process, command !== 'serve');
  try {
    const code = await dispatch(command, { process, loaded, lifecycle, reporter });
    if (lifecycle.failure !== null) throw lifecycle.failure;
    return code;
  } catch (error) {
    if (lifecycle.failure !== null) throw lifecycle.failure;
    if (error instanceof StartInterrupted) return 0;
    throw error;
  } finally {
    for (const failure of await lifecycle.stop()) process.stderr.write(`pgway: ${errorMessage(failure)}\n`);
    removeListener();
  }
}

function dispatch(command: Command, context: CommandContext): Promise<number> {
  switch (command) {
    case 'serve':
      return serve(context);
    case 'check':
      return check(context);
    default:
      return runGenerate(command, context);
  }
}

interface StartedGateway {
  readonly gateway: Gateway;
  readonly connectionString: string;
}

async function startDatabaseAndGateway(context: CommandContext): Promise<StartedGateway> {
  const { lifecycle, loaded, reporter, process } = context;
  for (const warning of loaded.warnings) reporter.warning(warning);
  const connectionString = await startDatabase(lifecycle, loaded.configuration, {
    workingDirectory: process.workingDirectory,
    progress: reporter.progress,
  });
  warnWithoutAuthentication(loaded.configuration, reporter.observer);
  const gateway = await startGateway(lifecycle, loaded.configuration, connectionString, {
    observer: reporter.observer,
    readDefinitions: needsDefinitions(loaded.configuration),
    endpointCreateHandlers: [(endpoints) => apiDocsDiagnostics(endpoints, loaded.configuration)],
  });
  return { gateway, connectionString };
}

/** Returns 1 when a comment has an error. */
async function check(context: CommandContext): Promise<number> {
  const { gateway } = await startDatabaseAndGateway(context);
  context.reporter.loaded(gateway);
  return gateway.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

async function serve(context: CommandContext): Promise<number> {
  const { lifecycle, loaded, reporter } = context;
  const begin = performance.now();
  const { gateway, connectionString } = await startDatabaseAndGateway(context);
  const handlers = [createApiDocsHandler(loaded.configuration, connectionString)];
  if (hasExample(loaded.configuration)) handlers.push(createExamplePageHandler(loaded.configuration));
  const server = await startHttpServer(lifecycle, loaded.configuration, gateway, handlers);
  for (const { id, path } of shadowedEndpoints(gateway.endpoints, loaded.configuration)) {
    reporter.warning(`${id} cannot be reached: the API docs are served at its path, ${path}`);
  }
  reporter.loaded(gateway);
  reporter.ready(gateway, server.port, performance.now() - begin);
  await whenAborted(lifecycle.stopSignal);
  reporter.stopping();
  return 0;
}
