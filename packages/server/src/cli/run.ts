import { StartError } from '@pgway/core';
import type { Environment } from '../config/layers.ts';
import { loadConfiguration } from '../config/load.ts';
import { parseArguments, programOptions } from './arguments.ts';
import { runCommand } from './commands.ts';
import { errorMessage } from './error-message.ts';
import { runHash, runVerify } from './hash-command.ts';
import { helpText, version } from './help.ts';
import type { ProcessContext } from './process-context.ts';

/** Runs the program and returns its exit code. Errors are written to `stderr` and return 1. */
export async function run(argv: readonly string[], environment: Environment, process: ProcessContext): Promise<number> {
  let pgVariables: readonly string[] = [];
  try {
    const { command, flags, file, filter, overrides } = parseArguments(argv);
    if (command === 'help') return print(process, helpText(process.columns ?? 100));
    if (command === 'version') return print(process, `${version()}\n`);
    // Needs no configuration: the server verifies passwords with the same fixed parameters.
    if (command === 'hash') return await (flags.has('verify') ? runVerify(process) : runHash(process));
    const { workingDirectory } = process;
    const loaded = await loadConfiguration({
      workingDirectory,
      file,
      environment,
      overrides,
      otherOptions: programOptions,
    });
    pgVariables = loaded.pgVariables;
    return await runCommand({ command, flags, filter }, loaded, process);
  } catch (error) {
    process.stderr.write(`pgway: ${errorMessage(error)}${databaseHint(error, pgVariables)}\n`);
    return 1;
  }
}

/** Names the libpq variables that selected the database: they may be set by accident. */
function databaseHint(error: unknown, pgVariables: readonly string[]): string {
  if (!(error instanceof StartError) || pgVariables.length === 0) return '';
  return `; the database comes from ${pgVariables.join(', ')}; pass --connectionString=… to use another one`;
}

function print(process: ProcessContext, text: string): number {
  process.stdout.write(text);
  return 0;
}
