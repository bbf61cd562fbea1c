import type { Gateway, Observer } from '@pgway/core';
import { startDatabase, startGateway } from '../start.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import { fileDiagnostics, isConfigured, wantsDefinitions } from '../generated-files.ts';
import { neutralise } from '../terminal-text.ts';
import { explain } from './error-message.ts';
import { compareAll, type Workshop, writeAll } from './write-files.ts';
import type { Operation } from './commands.ts';
import type { Streams } from './streams.ts';

/** Milliseconds between two looks at the catalog, where nobody tells of its changes. */
const interval = 1000;

/**
 * `pgway generate`: writes the files, or compares them, or writes them again at every change until somebody wishes to stop.
 * @returns the exit code: 1 when files are out of date
 */
export async function operateGenerate(
  action: 'generate' | 'compare' | 'watch',
  operation: Operation,
  streams: Streams,
): Promise<number> {
  const { lifecycle, loaded, announce, workingDirectory } = operation;
  const { configuration } = loaded;
  if (!isConfigured(configuration)) {
    throw new ConfigurationError([
      'there is nothing to generate: set typescriptClient.filePath, httpFile.folder or openApi.filePath',
    ]);
  }
  for (const warning of loaded.warnings) announce.warning(warning);
  const connectionString = await startDatabase(lifecycle, configuration, {
    workingDirectory,
    progress: announce.progress,
  });
  const print = (line: string): void => streams.stdout.write(`${line}\n`);
  const workshop: Workshop = { configuration, connectionString, workingDirectory, print };
  const { refreshOnNotify } = configuration.gateway;
  // Whatever is published while others are served would only be in the way here.
  const gateway = await startGateway(lifecycle, configuration, connectionString, {
    observer: complaints(streams),
    readDefinitions: wantsDefinitions(configuration),
    refreshOnNotify: action === 'watch' ? refreshOnNotify : null,
    endpointCreateHandlers: [
      (endpoints) => fileDiagnostics(endpoints, configuration),
      ...(action === 'watch' ? [writer(workshop, streams)] : []),
    ],
  });
  if (action === 'compare') return (await compareAll(gateway.endpoints, workshop)) ? 0 : 1;
  if (action === 'generate') {
    await writeAll(gateway.endpoints, workshop, false);
    return 0;
  }
  print('watching the database. Ctrl-C ends.');
  await (refreshOnNotify === null ? poll(gateway, operation, streams) : untilStop(lifecycle.stopWish));
  return 0;
}

/** At the start a refusal ends the program; later the next change may be a better one. */
function writer(workshop: Workshop, streams: Streams): (endpoints: Gateway['endpoints']) => Promise<void> {
  let isFirst = true;
  let failure = '';
  return async (endpoints) => {
    try {
      await writeAll(endpoints, workshop, !isFirst);
      failure = '';
    } catch (error) {
      if (isFirst) throw error;
      const text = explain(error);
      if (text !== failure) streams.stderr.write(`pgway: ${text}\n`);
      failure = text;
    }
    isFirst = false;
  };
}

/** Tells authors why an endpoint is missing from what is generated, or has another name than its path says. */
function complaints(streams: Streams): Observer {
  const told = new Set<string>();
  return (observation) => {
    if (observation.kind !== 'diagnostic') return;
    const { severity, code, routine, line, message } = observation.diagnostic;
    if (severity !== 'error' && code !== 'name-collision') return;
    const text = neutralise(`${severity} ${routine}${line === null ? '' : `, line ${line}`}: ${message}`);
    // A watch reads the same comments again and again.
    if (told.has(text)) return;
    told.add(text);
    streams.stderr.write(`${text}\n`);
  };
}

/** Reads the catalog again and again: one query, which also sees what a custom `gateway.query` lists. */
async function poll(gateway: Gateway, { lifecycle }: Operation, streams: Streams): Promise<void> {
  let failure = '';
  while (!lifecycle.stopWish.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- that is the point
    await Promise.race([pause(interval, lifecycle.stopWish), untilStop(lifecycle.stopWish)]);
    if (lifecycle.stopWish.aborted) return;
    try {
      // oxlint-disable-next-line no-await-in-loop
      await gateway.refresh();
      failure = '';
    } catch (error) {
      const text = explain(error);
      if (text !== failure) streams.stderr.write(`pgway: ${text}\n`);
      failure = text;
    }
  }
}

function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    stop.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

function untilStop(stop: AbortSignal): Promise<void> {
  if (stop.aborted) return Promise.resolve();
  return new Promise((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
}
