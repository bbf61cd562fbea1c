import { OptionsError, StartError } from '@pgway/core';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Environment } from '../config/layers.ts';
import { type LoadedConfiguration, loadConfiguration } from '../config/load.ts';
import { type Arguments, commandNames, type DatabaseCommand, parseArguments, programOptions } from './arguments.ts';
import { runCommand } from './commands.ts';
import { runConfig } from './config-command.ts';
import { runEncrypt } from './encrypt-command.ts';
import { errorMessage } from './error-message.ts';
import { runHash, runVerify } from './hash-command.ts';
import { helpText, version } from './help.ts';
import { runInit } from './init-command.ts';
import { WorkerStartError } from '../workers/worker-errors.ts';
import type { ProcessContext } from './process-context.ts';

/** Runs the program and returns its exit code. Errors are written to `stderr`; those of the configuration return 2, others 1. */
export async function run(argv: readonly string[], environment: Environment, process: ProcessContext): Promise<number> {
  let pgVariables: readonly string[] = [];
  try {
    const parsed = parseArguments(argv);
    const { command, flags, files, filter, schema, overrides } = parsed;
    if (!needsConfiguration(command)) return await runWithoutConfiguration(command, parsed, process);
    const { workingDirectory } = process;
    const sources = { workingDirectory, files, environment, overrides, otherOptions: programOptions, commandNames };
    const reload = (): Promise<LoadedConfiguration> => loadConfiguration(sources);
    const loaded = await reload();
    if (command === 'config') return runConfig(loaded, flags, process);
    if (command === 'encrypt') return await runEncrypt(loaded, flags, process);
    pgVariables = loaded.pgVariables;
    return await runCommand({ command, flags, filter, schema, reload }, loaded, process);
  } catch (error) {
    process.stderr.write(`pgway: ${errorMessage(error)}${databaseHint(error, pgVariables)}\n`);
    return exitCodeOf(error);
  }
}

type PlainCommand = Exclude<Arguments['command'], DatabaseCommand | 'config' | 'encrypt'>;

function needsConfiguration(command: Arguments['command']): command is Exclude<Arguments['command'], PlainCommand> {
  return !['help', 'version', 'hash', 'init'].includes(command);
}

async function runWithoutConfiguration(
  command: PlainCommand,
  { flags, files }: Arguments,
  process: ProcessContext,
): Promise<number> {
  switch (command) {
    case 'help':
      return print(process, helpText(process.columns ?? 100));
    case 'version':
      return print(process, `${version()}\n`);
    case 'hash':
      // The server verifies passwords with the same fixed parameters.
      return flags.has('verify') ? runVerify(process) : runHash(process);
    case 'init':
      return runInit(files[0]?.name ?? null, flags, process);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof WorkerStartError) return error.exitCode;
  return error instanceof ConfigurationError || error instanceof OptionsError ? 2 : 1;
}

/** Names the libpq variables that selected the database: they may be set by accident. */
function databaseHint(error: unknown, pgVariables: readonly string[]): string {
  const isStartError = error instanceof WorkerStartError ? error.isStartError : error instanceof StartError;
  if (!isStartError || pgVariables.length === 0) return '';
  return `; the database comes from ${pgVariables.join(', ')}; pass --connectionString=… to use another one`;
}

function print(process: ProcessContext, text: string): number {
  process.stdout.write(text);
  return 0;
}
