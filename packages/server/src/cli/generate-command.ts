import type { Gateway, Observer } from '@pgway/core';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Configuration } from '../config/schema.ts';
import { fileDiagnostics, needsDefinitions, writesFiles } from '../generated-files.ts';
import { whenAborted } from '../lifecycle.ts';
import { startDatabase, startGateway } from '../start.ts';
import { type CatalogWatch, createCatalogWatch } from './catalog-watch.ts';
import type { CommandContext } from './command-context.ts';
import { errorMessage } from '../expected-error.ts';
import type { ProcessContext } from '../process-context.ts';
import { diagnosticLine } from './startup-banner.ts';
import { checkGeneratedFiles, type GenerateContext, writeGeneratedFiles } from './write-files.ts';

/**
 * Runs `pgway generate`: writes the files, compares them (`--check`), or writes them at every change until a stop signal
 * (`--watch`). Returns the exit code, 1 when `--check` finds outdated files.
 */
export async function runGenerate({ task, lifecycle, loaded, reporter, process }: CommandContext): Promise<number> {
  const { configuration } = loaded;
  if (!writesFiles(configuration)) {
    throw new ConfigurationError([
      'there is nothing to generate: set typescriptClient.filePath, databaseTypes.filePath, httpFile.folder or openApi.filePath',
    ]);
  }
  for (const warning of loaded.warnings) reporter.warning(warning);
  const { workingDirectory } = process;
  const { progress } = reporter;
  const connectionString = await startDatabase(lifecycle, configuration, { workingDirectory, progress, joins: true });
  const print = (line: string): void => process.stdout.write(`${line}\n`);
  const context: GenerateContext = { configuration, connectionString, workingDirectory, print };
  const isWatch = task.flags.has('watch');
  const { refreshOnNotify } = configuration.gateway;
  const watch = isWatch && needsPolls(configuration) ? createWatch(process) : null;
  const gateway = await startGateway(lifecycle, configuration, connectionString, {
    workingDirectory,
    observer: diagnosticPrinter(process),
    readDefinitions: needsDefinitions(configuration),
    refreshOnNotify: isWatch ? refreshOnNotify : null,
    endpointCreateHandlers: [
      (endpoints) => fileDiagnostics(endpoints, configuration),
      ...(isWatch ? [fileWriter(context, process)] : []),
    ],
    ...watch?.options,
  });
  if (task.flags.has('check')) return (await checkGeneratedFiles(gateway.endpoints, context)) ? 0 : 1;
  if (!isWatch) {
    await writeGeneratedFiles(gateway.endpoints, context, false);
    return 0;
  }
  print('watching the database. Press Ctrl-C to stop.');
  const { stopSignal } = lifecycle;
  await (watch === null ? whenAborted(stopSignal) : watch.poll(gateway, { stopSignal }));
  return 0;
}

/** Notifications tell of changes of the database, but not of files. */
export function needsPolls({ gateway, sqlFiles }: Configuration): boolean {
  return gateway.refreshOnNotify === null || sqlFiles.length > 0;
}

/** Errors are lines of the standard error; the files are the output. */
function createWatch({ stderr }: ProcessContext): CatalogWatch {
  return createCatalogWatch((line) => stderr.write(`pgway: ${line}\n`));
}

/** The first error aborts the start; later errors are printed, and the next change is written again. */
function fileWriter(
  context: GenerateContext,
  process: ProcessContext,
): (endpoints: Gateway['endpoints']) => Promise<void> {
  let isFirst = true;
  const errors = errorPrinter(process);
  return async (endpoints) => {
    try {
      await writeGeneratedFiles(endpoints, context, !isFirst);
      errors.clear();
    } catch (error) {
      if (isFirst) throw error;
      errors.print(error);
    }
    isFirst = false;
  };
}

/** Prints errors of endpoints and name collisions, each once: a watch reads the same comments repeatedly. */
function diagnosticPrinter(process: ProcessContext): Observer {
  const printed = new Set<string>();
  return (observation) => {
    if (observation.kind !== 'diagnostic') return;
    const { severity, code } = observation.diagnostic;
    if (severity !== 'error' && code !== 'name-collision') return;
    const text = diagnosticLine(observation.diagnostic);
    if (printed.has(text)) return;
    printed.add(text);
    process.stderr.write(`${text}\n`);
  };
}

/** Prints an error unless it equals the previous one. */
function errorPrinter(process: ProcessContext): { print(error: unknown): void; clear(): void } {
  let previous = '';
  return {
    print: (error) => {
      const text = errorMessage(error);
      if (text !== previous) process.stderr.write(`pgway: ${text}\n`);
      previous = text;
    },
    clear: () => void (previous = ''),
  };
}
