/** The configuration files and the `.env` file: which there are, and their text. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'dotenv';
import type { Environment } from './environment.ts';
import { didYouMean } from './suggestion.ts';

/** A configuration file of the command line. */
export interface NamedFile {
  /** Relative to the working directory. */
  readonly name: string;
  /** Whether it may be missing. */
  readonly optional: boolean;
  /** Whether an option named it: it cannot be meant as a command. */
  readonly isOption?: boolean;
}

/** A file that was read, or the issue that prevents it; without both, the file does not exist and may be missing. */
interface ReadFile {
  readonly name: string;
  readonly text: string | null;
  readonly issues: readonly string[];
  readonly warnings: readonly string[];
}

export const defaultFile = 'pgway.json';
const dotenvFile = '.env';

/** The variables that select `pgway.<environment>.json`. */
const environmentVariables = ['PGWAY_ENVIRONMENT', 'NODE_ENV'] as const;

/** Returns the variable that names the environment, such as `production`; null when none is set. */
function environmentVariable(environment: Environment): (typeof environmentVariables)[number] | null {
  return environmentVariables.find((name) => (environment[name] ?? '') !== '') ?? null;
}

export interface SelectedFiles {
  /** In the order in which they are merged. */
  readonly files: readonly NamedFile[];
  /** The environment, which selects the second default file; null without one. */
  readonly environmentName: string | null;
  readonly issues: readonly string[];
}

/** Selects the named files, or `pgway.json` and `pgway.<environment>.json` without any. */
export function selectFiles(named: readonly NamedFile[], environment: Environment): SelectedFiles {
  const variable = environmentVariable(environment);
  const environmentName = variable === null ? null : environment[variable]!;
  if (named.length > 0) return { files: named, environmentName, issues: [] };
  const files = [{ name: defaultFile, optional: true }];
  if (environmentName === null) return { files, environmentName, issues: [] };
  // The name becomes part of a file name.
  if (!/^[\w-]+(?:\.[\w-]+)*$/.test(environmentName)) {
    const issue = `${variable}: must be a name of letters, digits, dots and hyphens, not ${JSON.stringify(environmentName)}`;
    return { files, environmentName, issues: [issue] };
  }
  const second = { name: `pgway.${environmentName}.json`, optional: true };
  return { files: [...files, second], environmentName, issues: [] };
}

export interface Dotenv {
  readonly variables: Readonly<Record<string, string>>;
  readonly issues: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the `.env` file of the working directory, if there is one. A folder of this name is ignored. */
export async function readDotenv(workingDirectory: string): Promise<Dotenv> {
  const { text, issues, warnings } = await readFile(workingDirectory, { name: dotenvFile, optional: true }, (code) =>
    code === 'EISDIR' ? null : unreadable(code),
  );
  return { variables: parse(text?.replace(/^\uFEFF/, '') ?? ''), issues, warnings };
}

/** Reads a configuration file. */
export function readConfigurationFile(
  workingDirectory: string,
  file: NamedFile,
  commandNames: readonly string[],
): Promise<ReadFile> {
  return readFile(workingDirectory, file, (code) => {
    if (code === 'ENOENT') return describeMissingFile(file, commandNames);
    return code === 'EISDIR' ? 'cannot read the file (EISDIR); this is a folder: pass a file in it' : unreadable(code);
  });
}

/** @param fault describes an error code; null: the file counts as missing */
async function readFile(
  folder: string,
  { name, optional }: NamedFile,
  fault: (code: string) => string | null,
): Promise<ReadFile> {
  try {
    const handle = await open(resolve(folder, name));
    try {
      const { mode } = await handle.stat();
      return { name, text: await handle.readFile('utf8'), issues: [], warnings: writableByOthers(name, mode) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const reason = code === 'ENOENT' && optional ? null : fault(code);
    return { name, text: null, issues: reason === null ? [] : [`${name}: ${reason}`], warnings: [] };
  }
}

function unreadable(code: string): string {
  const isPermission = code === 'EACCES' || code === 'EPERM';
  return `cannot read the file (${code}); ${isPermission ? 'give the user of this process read permission' : 'replace it by a regular file'}`;
}

/** Windows has no such mode. */
function writableByOthers(name: string, mode: number): readonly string[] {
  if (process.platform === 'win32' || (mode & 0o002) === 0) return [];
  return [`${name}: every user of this machine can change this file, and so the server; run chmod o-w ${name}`];
}

function describeMissingFile({ name, isOption }: NamedFile, commandNames: readonly string[]): string {
  if (/^\w+:\/\//.test(name)) return 'no such file; pass a database as --connectionString=…';
  if (isOption === true) return 'no such file; pass an existing file, as in --config=pgway.json';
  if (!/^[a-z-]+$/i.test(name)) return 'no such file; pass an existing file, and options as --name=value';
  if (name === 'help' || name === 'version') return `neither a command nor a file; did you mean --${name}?`;
  const others = `; pgway without a command serves, and its commands are ${commandNames.join(', ')}`;
  return `neither a command nor a file${didYouMean(name, commandNames) || others}`;
}
