import { StartError } from '@pgway/core';
import { loadConfiguration } from '../config/load.ts';
import type { Environment } from '../config/layers.ts';
import { ownOptions, readArguments } from './arguments.ts';
import { explain } from './error-message.ts';
import { helpText } from './help.ts';
import { operate } from './commands.ts';
import type { Streams } from './streams.ts';
import { version } from './version.ts';

/**
 * The whole program: reads the arguments, serves until somebody wishes it to stop, and says with which exit code to end:
 * 0 when all went well, 1 with one clear line on `stderr` when not.
 */
export async function run(argv: readonly string[], environment: Environment, streams: Streams): Promise<number> {
  let pgVariables: readonly string[] = [];
  try {
    const given = readArguments(argv);
    if (given.action === 'help') return print(streams, helpText(streams.columns ?? 100));
    if (given.action === 'version') return print(streams, `${version()}\n`);
    const loaded = await loadConfiguration({
      workingDirectory: streams.workingDirectory,
      file: given.file,
      environment,
      overrides: given.overrides,
      otherOptions: ownOptions,
    });
    pgVariables = loaded.pgVariables;
    return await operate(given.action, loaded, streams);
  } catch (error) {
    streams.stderr.write(`pgway: ${explain(error)}${whoseDatabase(error, pgVariables)}\n`);
    return 1;
  }
}

/** Who expects the embedded database may have forgotten that the shell names another one. */
function whoseDatabase(error: unknown, pgVariables: readonly string[]): string {
  if (!(error instanceof StartError) || pgVariables.length === 0) return '';
  return `; the database is that of ${pgVariables.join(', ')}, since nothing else names one`;
}

function print(streams: Streams, text: string): number {
  streams.stdout.write(text);
  return 0;
}
