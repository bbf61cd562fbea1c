import type { CommandContext } from '../command/command-context.ts';
import { noProgress } from '../output/progress.ts';
import { parseArguments } from './arguments.ts';
import { outputFolder, selectedParts } from '../command/options.ts';
import type { Command } from '../command/command.ts';
import { interruptedCode, runInterruptibly } from '../process/interruption.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';

/** Runs the program and returns its exit code. Errors are one line on the standard error. */
export async function run(argv: readonly string[], process: ProcessContext): Promise<number> {
  try {
    const { command, operands, options } = await parseArguments(argv);
    const runCommand = await command.load();
    return await withOutput({ command, options, process }, (context) =>
      runInterruptibly(context, (signal) =>
        withProgress(command, { process: context, signal }, async (parts) =>
          runCommand({ ...parts, operands, options, ...lazyConnection(parts, options) }),
        ),
      ),
    );
  } catch (error) {
    const { escapeControlCharacters } = await import('@pgway/core/terminal');
    const text = errorText(error).split('\n').map(escapeControlCharacters).join('\n');
    process.stderr.write(`pgscout: ${text}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

interface OutputChoice extends Pick<CommandContext, 'options' | 'process'> {
  readonly command: Command;
}

/** Runs a command whose output is a file with `--output`. A dictionary compares its file before it writes, and `--online` writes a folder. */
async function withOutput(
  { command, options, process }: OutputChoice,
  use: (context: ProcessContext) => Promise<number>,
): Promise<number> {
  const path = options.get('output');
  if (path === undefined || command.name === 'docs' || outputFolder(options) !== null) {
    const code = await use(process);
    if (code !== interruptedCode) await process.stdout.finish();
    return code;
  }
  const { createFileOutput } = await import('../output/file-output.ts');
  const stdout = await createFileOutput(path, process);
  try {
    const code = await use({ ...process, stdout, hasColors: false, columns: null });
    if (code !== interruptedCode) await stdout.finish();
    return code;
  } finally {
    await stdout.discard();
  }
}

type ProgressPart = Pick<CommandContext, 'process' | 'progress' | 'signal'>;

/** Runs a command, and removes its progress from the terminal. */
async function withProgress(
  { isLong = false }: Command,
  { process, signal }: Pick<ProgressPart, 'process' | 'signal'>,
  use: (parts: ProgressPart) => Promise<number>,
): Promise<number> {
  if (!isLong || process.errorColumns === null) return use({ process, signal, progress: noProgress });
  const { createProgressLine } = await import('../output/progress-line.ts');
  const progress = createProgressLine(process, process.errorColumns);
  signal.addEventListener('abort', progress.end, { once: true });
  try {
    return await use({ process: progress.process, signal, progress });
  } finally {
    progress.end();
  }
}

type ConnectionPart = Pick<CommandContext, 'settings' | 'withConnection'>;

/** Loads the modules of connections at the first use: `--help` needs none of them. */
function lazyConnection(
  { process, signal }: Pick<ProgressPart, 'process' | 'signal'>,
  options: CommandContext['options'],
): ConnectionPart {
  let read: ReturnType<CommandContext['settings']> | undefined;
  const settings: CommandContext['settings'] = () => (read ??= readSettings(process));
  return {
    settings,
    withConnection: async (use, other) => {
      const selected = other ?? options.get('connection') ?? null;
      const parts = other === undefined ? selectedParts(options) : {};
      const { withConnection } = await import('../connection/open-connection.ts');
      return withConnection({ process, signal, selected, parts, settings: await settings() }, use);
    },
  };
}

async function readSettings({ workingDirectory }: ProcessContext): ReturnType<CommandContext['settings']> {
  const module = await import('../connection/settings.ts');
  return module.readSettings(workingDirectory);
}

/** Returns the message of an expected error, and the stack of any other. */
function errorText(error: unknown): string {
  if (error instanceof UsageError || error instanceof CommandError) return error.message;
  const name = error instanceof Error ? error.name : '';
  if (name === 'PromptCancelled' || name === 'GeneratorError') return (error as Error).message;
  if (error instanceof Error && 'code' in error && 'severity' in error) return `the server reports: ${error.message}`;
  return `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
