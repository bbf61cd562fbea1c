import type { Environment } from '../config/environment.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { type Arguments, commandNames, type DatabaseCommand, parseArguments, programOptions } from './arguments.ts';
import type { ProcessContext } from '../process-context.ts';

/* Modules are imported by the commands that use them: `pgway --help` needs no gateway. */

/** Runs the program and returns its exit code. Errors are written to `stderr`; those of the configuration return 2, others 1. */
export async function run(argv: readonly string[], environment: Environment, process: ProcessContext): Promise<number> {
  let pgVariables: readonly string[] = [];
  try {
    const parsed = parseArguments(argv);
    const { command, flags, files, filter, operands, overrides } = parsed;
    if (!needsConfiguration(command)) return await runWithoutConfiguration(command, parsed, environment, process);
    const { loadConfiguration } = await import('../config/load.ts');
    const { workingDirectory } = process;
    const sources = { workingDirectory, files, environment, overrides, otherOptions: programOptions, commandNames };
    const reload = (): Promise<LoadedConfiguration> => loadConfiguration(sources);
    const loaded = await reload();
    if (command === 'config') return (await import('./config-command.ts')).runConfig(loaded, flags, process);
    if (command === 'encrypt') return await (await import('./encrypt-command.ts')).runEncrypt(loaded, flags, process);
    pgVariables = loaded.pgVariables;
    const { runCommand } = await import('./commands.ts');
    return await runCommand({ command, flags, filter, operands, reload }, loaded, process);
  } catch (error) {
    const { describeFailure } = await import('./failure.ts');
    const { text, exitCode } = describeFailure(error, pgVariables);
    process.stderr.write(text);
    return exitCode;
  }
}

type PlainCommand = Exclude<Arguments['command'], DatabaseCommand | 'config' | 'encrypt'>;

function needsConfiguration(command: Arguments['command']): command is Exclude<Arguments['command'], PlainCommand> {
  return !['help', 'version', 'hash', 'init'].includes(command);
}

async function runWithoutConfiguration(
  command: PlainCommand,
  parsed: Arguments,
  environment: Environment,
  process: ProcessContext,
): Promise<number> {
  switch (command) {
    case 'help':
      return printHelp(parsed.filter, process);
    case 'version':
      return print(process, `${(await import('../version.ts')).version()}\n`);
    case 'hash': {
      const { runHash, runVerify } = await import('./hash-command.ts');
      // The server verifies passwords with the same fixed parameters.
      return parsed.flags.has('verify') ? runVerify(process) : runHash(process);
    }
    case 'init':
      return (await import('./init/init-command.ts')).runInit(parsed, environment, process);
  }
}

async function printHelp(word: string | null, process: ProcessContext): Promise<number> {
  const { helpText, searchSettings } = await import('./help.ts');
  const columns = process.columns ?? 100;
  if (word === null || word === 'all') return print(process, helpText(columns, word === 'all'));
  const found = searchSettings(word, columns);
  if (found !== null) return print(process, found);
  process.stderr.write(`pgway: no setting contains "${word}"; pgway --help all prints every setting\n`);
  return 1;
}

function print(process: ProcessContext, text: string): number {
  process.stdout.write(text);
  return 0;
}
