/** The settings files of the working folder: which there are, and the connections they name. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { UsageError } from '../process/errors.ts';
import { nearest } from '../process/nearest.ts';
import type { Environment } from '../process/process-context.ts';

export interface NamedConnection {
  /** The connection string, with references to variables. */
  readonly text: string;
  readonly file: string;
}

export interface Settings {
  /** The files that were read, in order. */
  readonly files: readonly string[];
  readonly connections: ReadonlyMap<string, NamedConnection>;
  /** The variables of the file `.env`, which those of the process replace. */
  readonly variables: Environment;
  /** The name of the connection that is used without `--connection`. */
  readonly defaultConnection: string | null;
  /** `embedded.dataDirectory` of `pgway.json`; null for the default. */
  readonly dataDirectory: string | null;
  /** Folders or programs that replace client tools of another version than the server. */
  readonly pgDumpFallback: string | null;
  readonly psqlFallback: string | null;
  /** Findings of `--advise` that are left out, each with its reason. */
  readonly adviseIgnore: Readonly<Record<string, string>>;
}

/** The file of this tool. */
export const ownFile = 'pgscout.json';
const gatewayFile = 'pgway.json';
/** In their order: the first file that has a name wins. */
const fileNames: readonly string[] = [ownFile, gatewayFile, 'appsettings.Development.json', 'appsettings.json'];

/** The keys of `pgscout.json`. */
const ownKeys = ['Connection', 'ConnectionStrings', 'PgDumpFallback', 'PsqlFallback', 'AdviseIgnore'] as const;
type OwnKey = (typeof ownKeys)[number];

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads the settings files of the folder.
 * @throws UsageError for a file that cannot be read
 */
export async function readSettings(folder: string): Promise<Settings> {
  const read = await Promise.all(fileNames.map((name) => readJson(folder, name)));
  const files = fileNames.flatMap((name, index) => (read[index] === null ? [] : [{ name, content: read[index]! }]));
  const connections = new Map<string, NamedConnection>();
  for (const { name: file, content } of files) {
    for (const [name, text] of connectionsOf(file, content)) {
      if (!connections.has(name)) connections.set(name, { text, file });
    }
  }
  const own = read[0] === null ? {} : ownSettings(read[0]!);
  return {
    files: files.map(({ name }) => name),
    connections,
    variables: parseEnv((await readText(folder, '.env')) ?? ''),
    defaultConnection: own.Connection ?? null,
    dataDirectory: dataDirectoryOf(read[fileNames.indexOf(gatewayFile)] ?? {}),
    pgDumpFallback: own.PgDumpFallback ?? null,
    psqlFallback: own.PsqlFallback ?? null,
    adviseIgnore: reasonsOf(read[0]?.['AdviseIgnore']),
  };
}

function dataDirectoryOf({ embedded }: JsonObject): string | null {
  const folder = isObject(embedded) ? embedded['dataDirectory'] : undefined;
  return typeof folder === 'string' ? folder : null;
}

async function readText(folder: string, name: string): Promise<string | null> {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new UsageError(`${name}: cannot read the file (${code})`);
  }
}

async function readJson(folder: string, name: string): Promise<JsonObject | null> {
  const text = await readText(folder, name);
  if (text === null) return null;
  const errors: ParseError[] = [];
  const content: unknown = parse(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length;
    throw new UsageError(`${name}:${line}: no valid JSON (${printParseErrorCode(first.error)})`);
  }
  if (!isObject(content)) throw new UsageError(`${name}: must be a JSON object`);
  return content;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns names and connection strings of a file. The main connection of `pgway.json` has the name `pgway`. */
function connectionsOf(file: string, content: JsonObject): readonly (readonly [string, string])[] {
  if (file !== gatewayFile) return sectionOf(file, 'ConnectionStrings', content['ConnectionStrings']);
  const { connectionString, gateway } = content;
  const further = isObject(gateway) ? gateway['connectionStrings'] : undefined;
  return [
    ...(typeof connectionString === 'string' ? [['pgway', connectionString] as const] : []),
    ...sectionOf(file, 'gateway.connectionStrings', further),
    ...sectionOf(file, 'ConnectionStrings', content['ConnectionStrings']),
  ];
}

function sectionOf(file: string, section: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) throw new UsageError(`${file}: ${section} must be an object of names and connection strings`);
  return Object.entries(value).map(([name, text]) => {
    if (typeof text === 'string') return [name, text];
    throw new UsageError(`${file}: ${section}.${name} must be a connection string`);
  });
}

function ownSettings(content: JsonObject): Partial<Record<OwnKey, string>> {
  const found: Partial<Record<OwnKey, string>> = {};
  for (const [key, value] of Object.entries(content)) {
    const known = ownKeys.find((name) => name === key);
    if (known === undefined) {
      throw new UsageError(`${ownFile}: unknown key ${JSON.stringify(key)}${nearest(key, ownKeys)}`);
    }
    if (known === 'ConnectionStrings' || known === 'AdviseIgnore' || value === null) continue;
    if (typeof value !== 'string') throw new UsageError(`${ownFile}: ${known} must be a text`);
    found[known] = value;
  }
  return found;
}

/** @throws UsageError for a finding without a reason */
function reasonsOf(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const reasons = isObject(value) ? Object.entries(value) : null;
  if (reasons === null) throw new UsageError(`${ownFile}: AdviseIgnore must be an object of findings and reasons`);
  for (const [finding, reason] of reasons) {
    if (typeof reason !== 'string' || reason.trim() === '')
      throw new UsageError(`${ownFile}: AdviseIgnore ${JSON.stringify(finding)} needs a reason`);
  }
  return value as Readonly<Record<string, string>>;
}
