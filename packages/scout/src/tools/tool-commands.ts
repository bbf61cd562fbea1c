/** The commands that run client tools: `--psql`, `--execute`, `--backup`, `--restore`. */
import { access, readdir, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { setInterval } from 'node:timers/promises';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { interruptedCode } from '../process/interruption.ts';
import { type ToolName, type ToolRunner, withTool } from './client-tool.ts';

/** `--psql [arguments]`: opens psql, and returns its exit code. */
export function runPsql(context: CommandContext): Promise<number> {
  return withTool('psql', context, ({ run }) => run(context.operands));
}

/**
 * `--execute <file|folder|sql|->`: stops at the first error. The files of a folder run in the order of their names; `-` is the
 * standard input.
 */
export async function runExecute(context: CommandContext): Promise<number> {
  const { operands, options, process, progress } = context;
  const text = operands.join(' ');
  const files = text === '-' ? ['-'] : await scriptFiles(process.workingDirectory, text);
  const scripts = files === null ? [['-c', text]] : files.map((file) => ['-f', file]);
  // One run of psql is one transaction of all files.
  const runs = options.has('single-transaction') ? [['--single-transaction', ...scripts.flat()]] : scripts;
  // One script alone can use the terminal, such as a pager.
  const outputs = progress.isShown && runs.length > 1 ? 'through' : 'direct';
  return withTool('psql', context, async ({ run }) => {
    for (const [index, script] of runs.entries()) {
      if (runs.length > 1) progress.show(`${index + 1} of ${runs.length}: ${basename(script[1]!)}`);
      // One after the other: later scripts may need earlier ones.
      const code = await run(['-X', '-v', 'ON_ERROR_STOP=1', ...script], outputs);
      if (code === interruptedCode) return code;
      if (code !== 0) throw new CommandError(`psql failed with exit code ${code}${failedFile(script)}`);
    }
    return 0;
  });
}

function failedFile([option, file]: readonly string[]): string {
  return option === '-f' && file !== '-' ? ` in ${file}` : '';
}

/** Returns the files of a folder or the file; null for SQL. */
async function scriptFiles(folder: string, text: string): Promise<readonly string[] | null> {
  const path = resolve(folder, text);
  const kind = await stat(path).catch(() => null);
  if (kind?.isFile() === true) return [path];
  if (kind?.isDirectory() === true) {
    const names = (await readdir(path)).filter((name) => name.endsWith('.sql')).toSorted();
    if (names.length === 0) throw new CommandError(`${text}: the folder has no .sql files`);
    return names.map((name) => join(path, name));
  }
  if (/^\S+\.sql$/i.test(text)) throw new CommandError(`${text}: no such file`);
  return null;
}

/** `--backup <file>`: a file `.sql` is a script, any other one an archive for `--restore`. An incomplete file is removed. */
export async function runBackup(context: CommandContext): Promise<number> {
  const file = oneFile(context, 'backup');
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new CommandError(`${file}: the file exists; remove it or pass another one`);
  const args = [`--format=${isScript(file) ? 'plain' : 'custom'}`, `--file=${file}`];
  const size = async (): Promise<string> => {
    const { size: bytes } = await stat(file).catch(() => ({ size: 0 }));
    return `writing ${basename(file)}: ${(bytes / 1_000_000).toFixed(1)} MB`;
  };
  let code: number | null = null;
  try {
    code = await runWithProgress('pg_dump', context, () => args, size);
    return code;
  } finally {
    if (code !== 0) await rm(file, { force: true });
  }
}

/** `--restore <file>`: stops at the first error, and then changes nothing. */
export async function runRestore(context: CommandContext): Promise<number> {
  const file = oneFile(context, 'restore');
  await access(file).catch(() => {
    throw new CommandError(`${file}: no such file`);
  });
  const text = (): string => `restoring ${basename(file)}`;
  if (isScript(file)) {
    const args = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '--single-transaction', '-o', nullDevice, '-f', file];
    return runWithProgress('psql', context, () => args, text);
  }
  return runWithProgress(
    'pg_restore',
    context,
    ({ database }) => ['--exit-on-error', '--single-transaction', `--dbname=dbname=${quoteParameter(database)}`, file],
    text,
  );
}

const nullDevice = process.platform === 'win32' ? 'NUL' : '/dev/null';

/** Quotes a value of a connection string: a name such as `a=b` is none. */
function quoteParameter(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

function isScript(file: string): boolean {
  return file.toLowerCase().endsWith('.sql');
}

/** Returns the absolute path of the file: a name may begin with a hyphen. */
function oneFile({ operands, process: { workingDirectory } }: CommandContext, name: string): string {
  const [file, ...others] = operands;
  if (file === undefined || others.length > 0)
    throw new UsageError(`--${name}: needs one file, as in --${name} shop.dump`);
  return resolve(workingDirectory, file);
}

/** Milliseconds between two texts of the progress. */
const interval = 250;

/** Runs a tool, with the text of its progress. @throws CommandError when it fails */
function runWithProgress(
  name: ToolName,
  context: CommandContext,
  args: (runner: ToolRunner) => readonly string[],
  text: () => string | Promise<string>,
): Promise<number> {
  const { progress } = context;
  return withTool(name, context, async (runner) => {
    const ended = new AbortController();
    const repeat = async (): Promise<void> => {
      progress.show(await text());
      for await (const _ of setInterval(interval, null, { signal: ended.signal, ref: false }))
        progress.show(await text());
    };
    if (progress.isShown) repeat().catch(() => {});
    try {
      const code = await runner.run(args(runner), progress.isShown ? 'through' : 'direct');
      if (code === 0 || code === interruptedCode) return code;
      throw new CommandError(`${name} failed with exit code ${code}`);
    } finally {
      ended.abort();
    }
  });
}
