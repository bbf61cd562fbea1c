import type { Gateway } from '@pgway/core';
import { startDatabase, startGateway, warnOfOpenDoor, startServer } from '../start.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { hiddenEndpoints, servedDocuments } from '../api-docs/api-docs.ts';
import { documentDiagnostics, wantsDefinitions } from '../generated-files.ts';
import { Lifecycle, StartInterrupted } from '../lifecycle.ts';
import { announcer } from './startup-reporter.ts';
import { operateGenerate } from './generate-command.ts';
import type { Action } from './arguments.ts';
import type { Announcer } from './startup-reporter.ts';
import { explain } from './error-message.ts';
import type { Streams } from './streams.ts';

/** What is under way. */
export interface Operation {
  readonly lifecycle: Lifecycle;
  readonly loaded: LoadedConfiguration;
  readonly announce: Announcer;
  readonly workingDirectory: string;
}

/**
 * Starts what the action needs, does it, and stops everything, whatever happens on the way.
 * @returns the exit code
 */
export async function operate(action: Action, loaded: LoadedConfiguration, streams: Streams): Promise<number> {
  const lifecycle = new Lifecycle();
  const ignoreStop = streams.onStop((wish) => {
    if (wish === 'at once') lifecycle.wishStopAtOnce();
    else lifecycle.wishStop();
  });
  const announce = announcer(loaded.configuration, streams, action !== 'serve');
  const operation = { lifecycle, loaded, announce, workingDirectory: streams.workingDirectory };
  try {
    const code = await perform(action, operation, streams);
    if (lifecycle.failure !== null) throw lifecycle.failure;
    return code;
  } catch (error) {
    if (lifecycle.failure !== null) throw lifecycle.failure;
    if (error instanceof StartInterrupted) return 0;
    throw error;
  } finally {
    for (const failure of await lifecycle.stop()) streams.stderr.write(`pgway: ${explain(failure)}\n`);
    ignoreStop();
  }
}

function perform(action: Action, operation: Operation, streams: Streams): Promise<number> {
  switch (action) {
    case 'serve':
      return serve(operation);
    case 'check':
      return check(operation);
    default:
      return operateGenerate(action, operation, streams);
  }
}

async function publish(
  operation: Operation,
): Promise<{ readonly gateway: Gateway; readonly connectionString: string }> {
  const { lifecycle, loaded, announce, workingDirectory } = operation;
  for (const warning of loaded.warnings) announce.warning(warning);
  const connectionString = await startDatabase(lifecycle, loaded.configuration, {
    workingDirectory,
    progress: announce.progress,
  });
  warnOfOpenDoor(loaded.configuration, announce.observer);
  const gateway = await startGateway(lifecycle, loaded.configuration, connectionString, {
    observer: announce.observer,
    readDefinitions: wantsDefinitions(loaded.configuration),
    endpointCreateHandlers: [(endpoints) => documentDiagnostics(endpoints, loaded.configuration)],
  });
  return { gateway, connectionString };
}

/** The configuration is right, the database answers, and no comment has an error: 0. */
async function check(operation: Operation): Promise<number> {
  const { gateway } = await publish(operation);
  operation.announce.published(gateway);
  return gateway.diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

async function serve(operation: Operation): Promise<number> {
  const { lifecycle, loaded, announce } = operation;
  const begin = performance.now();
  const { gateway, connectionString } = await publish(operation);
  const documents = servedDocuments(loaded.configuration, connectionString);
  const server = await startServer(lifecycle, loaded.configuration, gateway, documents);
  for (const { id, path } of hiddenEndpoints(gateway.endpoints, loaded.configuration)) {
    announce.warning(`${id} cannot be reached: a document is served at its path, ${path}`);
  }
  announce.published(gateway);
  announce.ready(gateway, server.port, performance.now() - begin);
  await new Promise<void>((resolve) => lifecycle.stopWish.addEventListener('abort', () => resolve(), { once: true }));
  announce.stopping();
  return 0;
}
