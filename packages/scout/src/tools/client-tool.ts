/** The client tools of PostgreSQL: which one fits the server, and how it is run. */
import { execFile, spawn } from 'node:child_process';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { CommandContext } from '../command/command-context.ts';
import type { Connection } from '../connection/connection.ts';
import { CommandError } from '../process/errors.ts';
import { interruptedCode } from '../process/interruption.ts';
import type { Environment, ProcessContext } from '../process/process-context.ts';
import type { Settings } from '../connection/settings.ts';
import { connectionVariables } from './connection-variables.ts';

export type ToolName = 'psql' | 'pg_dump' | 'pg_restore';

export interface ClientTool {
  readonly path: string;
  /** The major version; null when the program does not print it. */
  readonly version: number | null;
}

const suffix = process.platform === 'win32' ? '.exe' : '';

/** Returns the tool of the PATH; null when there is none. */
export async function findInPath(name: ToolName, environment: Environment): Promise<ClientTool | null> {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return firstTool(folders.map((folder) => join(folder, `${name}${suffix}`)));
}

async function firstTool(paths: readonly string[]): Promise<ClientTool | null> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  const path = paths.find((_, index) => found[index]);
  return path === undefined ? null : { path, version: await toolVersion(path) };
}

async function toolVersion(path: string): Promise<number | null> {
  const output = await promisify(execFile)(path, ['--version'], { timeout: 5000 }).catch(() => null);
  const match = /\(PostgreSQL\) (\d+)/.exec(output?.stdout ?? '');
  return match === null ? null : Number(match[1]);
}

/** The folders where packages of PostgreSQL install the programs of a version. */
function defaultFolders(version: number): readonly string[] {
  if (process.platform === 'win32') return [`C:\\Program Files\\PostgreSQL\\${version}\\bin`];
  return [
    `/usr/lib/postgresql/${version}/bin`,
    `/usr/pgsql-${version}/bin`,
    `/opt/homebrew/opt/postgresql@${version}/bin`,
    `/usr/local/opt/postgresql@${version}/bin`,
    `/Library/PostgreSQL/${version}/bin`,
  ];
}

/** `PgDumpFallback` and `PsqlFallback` are folders, or programs. */
function fallbackPaths(name: ToolName, version: number, settings: Settings): readonly string[] {
  const fallback = name === 'psql' ? settings.psqlFallback : settings.pgDumpFallback;
  const file = `${name}${suffix}`;
  const configured = fallback === null ? [] : [join(fallback, file), ...(name === 'pg_restore' ? [] : [fallback])];
  return [...configured, ...defaultFolders(version).map((folder) => join(folder, file))];
}

/**
 * Returns the tool that fits the server: that of the PATH, else that of the settings, else that of a default folder. A tool of
 * another version is used when there is no better one.
 * @throws CommandError without a tool
 */
async function selectTool(
  name: ToolName,
  version: number,
  { process: { environment, stderr }, settings }: { readonly process: ProcessContext; readonly settings: Settings },
): Promise<ClientTool> {
  const first = await findInPath(name, environment);
  if (first?.version === version) return first;
  const other = await firstTool(fallbackPaths(name, version, settings));
  const setting = name === 'psql' ? 'PsqlFallback' : 'PgDumpFallback';
  const tool = other ?? first;
  if (tool === null) {
    throw new CommandError(
      `${name} is not installed; install the client programs of PostgreSQL ${version}, or set ${setting} in pgscout.json to their folder`,
    );
  }
  if (first !== null) {
    const replaced = other === null ? `set ${setting} in pgscout.json to another one` : `using ${other.path}`;
    stderr.write(
      `warning: ${first.path} has version ${first.version ?? '?'}, and the server ${version}; ${replaced}\n`,
    );
  }
  return tool;
}

/** Where a tool writes: to the terminal, or through this process, which keeps the texts apart from its progress. */
export type Outputs = 'direct' | 'through';

/** The tool and the variables of its connection, for one or several runs. */
export interface ToolRunner {
  /** Runs the tool and returns its exit code. Its outputs are those of this process, by default directly. */
  readonly run: (args: readonly string[], outputs?: Outputs) => Promise<number>;
  readonly database: string;
}

/** Selects the tool for the server of the connection. The password is passed in the environment, which other users cannot read. */
export async function withTool<Result>(
  name: ToolName,
  context: CommandContext,
  use: (runner: ToolRunner) => Promise<Result>,
): Promise<Result> {
  const settings = await context.settings();
  const { tool, connection } = await context.withConnection(async (open) => ({
    tool: await selectTool(name, await serverVersion(open), { process: context.process, settings }),
    connection: open,
  }));
  const variables = await connectionVariables(connection.settings, connection.name);
  try {
    const environment = { ...context.process.environment, ...variables.values };
    return await use({
      run: (args, outputs = 'direct') => runTool(tool, args, { context: context.process, environment, outputs }),
      database: connection.name.database,
    });
  } finally {
    await variables.remove();
  }
}

async function serverVersion({ client }: Connection): Promise<number> {
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`);
  return Math.trunc(Number(rows[0]!.version) / 10_000);
}

interface ToolSurroundings {
  readonly context: ProcessContext;
  readonly environment: Environment;
  readonly outputs: Outputs;
}

function runTool(
  { path }: ClientTool,
  args: readonly string[],
  { context, environment, outputs }: ToolSurroundings,
): Promise<number> {
  const output = outputs === 'direct' ? 'inherit' : 'pipe';
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, {
      // A file gets the bytes of the tool.
      stdio: ['inherit', context.columns === null ? 'inherit' : output, output],
      env: environment,
      cwd: context.workingDirectory,
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => context.stdout.write(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => context.stderr.write(text));
    // Ctrl-C reaches the tool, too: psql cancels its query. Other signals are for one process.
    let isInterrupted = false;
    const remove = context.onInterrupt((signal) => {
      isInterrupted = true;
      if (signal !== 'SIGINT') child.kill(signal);
    });
    child.on('error', (error) => reject(new CommandError(`${path} cannot be run: ${error.message}`)));
    child.on('close', (code) => {
      remove();
      resolve(code !== 0 && isInterrupted ? interruptedCode : (code ?? 1));
    });
  });
}
