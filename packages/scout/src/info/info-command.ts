/** `pgscout --info`: the surroundings of the tool, and the connection in use. */
import { access } from 'node:fs/promises';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import type { Environment } from '../process/process-context.ts';
import { version } from '../command/version.ts';
import { connectionUrl } from '../connection/connection-name.ts';
import { selectedParts } from '../command/options.ts';
import { findConnection } from '../connection/find-connection.ts';
import type { Settings } from '../connection/settings.ts';
import { printJson } from '../output/print-json.ts';
import { packageFolder } from '../package-folder.ts';
import { findInPath, type ToolName } from '../tools/client-tool.ts';

const clientTools: readonly ToolName[] = ['psql', 'pg_dump', 'pg_restore'];

type Fact = string | null | readonly string[] | Readonly<Record<string, string>>;
type Facts = Readonly<Record<string, Fact>>;

interface ConnectionInfo {
  readonly url: string | null;
  readonly origin: string | null;
  readonly server: string | null;
  readonly error: string | null;
}

/** Prints what is known. A database that cannot be reached is one of the facts, and returns 1. */
export async function runInfo(context: CommandContext): Promise<number> {
  const { process } = context;
  const settings = await context.settings();
  const connection = await connectionInfo(context, settings);
  const tools = await Promise.all(clientTools.map((name) => toolText(name, process.environment)));
  const facts: Facts = {
    version: version(),
    executableFolder: fileURLToPath(new URL('dist', packageFolder)),
    node: globalThis.process.version,
    operatingSystem: `${os.type()} ${os.release()} ${os.arch()}`,
    workingFolder: process.workingDirectory,
    projectFile: await projectFile(process.workingDirectory),
    settingsFiles: settings.files,
    settings: changedSettings(settings),
    connections: [...settings.connections].map(([name, { file }]) => `${name} (${file})`),
    connection: connection.url,
    connectionSource: connection.origin,
    server: connection.server,
    ...(connection.error === null ? {} : { connectionError: connection.error }),
    ...Object.fromEntries(clientTools.map((name, index) => [name, tools[index] ?? null])),
  };
  if (context.options.has('json')) printJson(process, facts);
  else process.stdout.write(factLines(facts));
  return connection.error === null ? 0 : 1;
}

async function connectionInfo(context: CommandContext, settings: Settings): Promise<ConnectionInfo> {
  const none = { url: null, origin: null, server: null, error: null };
  try {
    const { options, process } = context;
    const parts = selectedParts(options);
    const selected = await findConnection({
      selected: options.get('connection') ?? null,
      settings,
      parts,
      process,
    });
    if (selected === null) return none;
    const { origin } = selected;
    return await context.withConnection(async ({ client, name }) => {
      const { rows } = await client.query<{ version: string }>('select pg_catalog.version()');
      return { ...none, url: connectionUrl(name), origin, server: rows[0]!.version };
    });
  } catch (error) {
    if (error instanceof CommandError || error instanceof UsageError) return { ...none, error: error.message };
    throw error;
  }
}

function changedSettings({
  defaultConnection,
  pgDumpFallback,
  psqlFallback,
}: Settings): Readonly<Record<string, string>> {
  const all = { Connection: defaultConnection, PgDumpFallback: pgDumpFallback, PsqlFallback: psqlFallback };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Returns `package.json` of the folder or of one above it. */
async function projectFile(folder: string): Promise<string | null> {
  const path = join(folder, 'package.json');
  if (await exists(path)) return path;
  return dirname(folder) === folder ? null : projectFile(dirname(folder));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Returns path and version of a client tool; null when it is not in the PATH. */
async function toolText(name: ToolName, environment: Environment): Promise<string | null> {
  const tool = await findInPath(name, environment);
  return tool === null ? null : `${tool.path} (version ${tool.version ?? '?'})`;
}

function factLines(facts: Facts): string {
  const rows = Object.entries(facts).map(([name, value]) => [label(name), valueText(value)] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${escapeControlCharacters(right)}\n`).join('');
}

/** Returns `settings files` for `settingsFiles`. */
function label(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function valueText(value: Fact): string {
  if (value === null) return '-';
  if (typeof value === 'string') return value;
  const texts = value instanceof Array ? value : Object.entries(value).map(([key, text]) => `${key}=${text}`);
  return texts.length === 0 ? '-' : texts.join(', ');
}
