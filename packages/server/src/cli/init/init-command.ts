import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { defaultFile } from '../../config/configuration-files.ts';
import type { Environment } from '../../config/environment.ts';
import type { Override } from '../../config/layers.ts';
import { configurationTemplate } from '../../config/template.ts';
import { version } from '../../version.ts';
import type { Arguments } from '../arguments.ts';
import type { ProcessContext } from '../../process-context.ts';
import { isTerminal, onTerminal } from '../secret-input.ts';
import { applyStatements } from './apply-statements.ts';
import { type Choices, choose } from './choices.ts';
import {
  databaseStatements,
  ignoredFiles,
  projectConfiguration,
  type ProjectFile,
  projectFiles,
  projectVariables,
  scripts,
} from './project-files.ts';

/** A file to write. */
interface WrittenFile extends ProjectFile {
  /** Permissions; absent: those of the file, or of the process. */
  readonly mode?: number;
}

/**
 * Runs `pgway init`: writes a project with a first endpoint, and creates what its database needs. With `--all`, only writes a configuration
 * file with the most used settings as comments. Returns the exit code.
 * @throws ConfigurationError when a file exists and `--force` is not passed, and when one cannot be read or written; nothing is written then
 * @throws StartError when the database refuses a statement, after the files have been written
 */
export async function runInit(
  { files: named, flags, overrides }: Arguments,
  environment: Environment,
  process: ProcessContext,
): Promise<number> {
  const name = named[0]?.name ?? defaultFile;
  const folder = new ProjectFolder(process.workingDirectory, flags.has('force'));
  if (flags.has('all')) {
    await folder.write([{ name, text: configurationTemplate() }], []);
    print(process, [`${name} written. Print the values that take effect: npx pgway config${argumentOf(name)}`]);
    return 0;
  }
  const dotenv = (await folder.read('.env')) ?? '';
  const found = findDatabase(environment, parseEnv(dotenv));
  checkDatabase(overrides, found);
  const asks = isTerminal(process.stdin) && !flags.has('yes');
  const choices = asks
    ? await onTerminal(process, (ask) => choose(overrides, found !== null, ask))
    : await choose(overrides, found !== null, null);
  const created = [{ name, text: projectConfiguration(choices) }, ...projectFiles(choices)];
  const amended = await amendedFiles(folder, choices, dotenv);
  await folder.write(created, amended);
  print(
    process,
    [...created, ...amended].map((file) => `${file.name}  written`),
  );
  const project = { file: name, environment, process };
  if (databaseStatements(choices).length > 0) print(process, [await applyStatements(choices, project)]);
  print(process, nextSteps(name, amended));
  return 0;
}

/** The variables that name a database. */
const databaseVariables = ['DATABASE_URL', 'PGWAY_CONNECTION_STRING', 'PGHOST'] as const;

/** A variable that names a database. */
interface FoundDatabase {
  readonly variable: string;
  readonly value: string;
  /** Where it is set. */
  readonly place: string;
}

/** Variables of the process win over those of `.env`. */
function findDatabase(environment: Environment, dotenv: Environment): FoundDatabase | null {
  for (const [variables, place] of [
    [environment, 'the environment'],
    [dotenv, '.env'],
  ] as const) {
    const variable = databaseVariables.find((name) => variables[name]);
    if (variable !== undefined) return { variable, value: variables[variable]!, place };
  }
  return null;
}

/** The statements would run in the other database. @throws ConfigurationError */
function checkDatabase(overrides: readonly Override[], found: FoundDatabase | null): void {
  const value = overrides.find(({ key }) => key === 'database')?.value;
  if (value === undefined || found === null || value === found.value) return;
  const { variable, place } = found;
  throw new ConfigurationError([
    `--database: ${place} sets ${variable} to another database; change it there, or leave --database out`,
  ]);
}

function argumentOf(name: string): string {
  return name === defaultFile ? '' : ` ${name}`;
}

function print({ stdout }: ProcessContext, lines: readonly string[]): void {
  stdout.write(lines.map((line) => `${escapeControlCharacters(line)}\n`).join(''));
}

/** Scripts of the project that existed before are kept, and may do something else. */
function nextSteps(name: string, amended: readonly ProjectFile[]): readonly string[] {
  const argument = argumentOf(name);
  const contents = amended.find((file) => file.name === 'package.json')?.text;
  const { scripts: existing = {} } = JSON.parse(contents ?? '{}') as {
    readonly scripts?: Readonly<Record<string, string>>;
  };
  const hasScript = (script: string): boolean => argument === '' && existing[script] === scripts[script];
  return [
    'Next:',
    '  npm install',
    hasScript('build') ? '  npm run build' : `  npx pgway generate${argument} && npx tsc`,
    hasScript('start') ? '  npm start' : `  npx pgway${argument} --watch`,
    'and open http://127.0.0.1:8080/, and /console for all endpoints.',
  ];
}

/** The folder of the project. */
class ProjectFolder {
  readonly #path: string;
  readonly #overwrites: boolean;

  constructor(path: string, overwrites: boolean) {
    this.#path = path;
    this.#overwrites = overwrites;
  }

  /** Returns the text of a file; null: there is none. @throws ConfigurationError */
  async read(name: string): Promise<string | null> {
    try {
      return await readFile(resolve(this.#path, name), 'utf8');
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw new ConfigurationError([`${name}: cannot be read (${code}); correct that, or choose another folder`]);
    }
  }

  /**
   * Writes files, of which the created ones may not exist.
   * @throws ConfigurationError with a line for each of these that exists
   */
  async write(created: readonly WrittenFile[], amended: readonly WrittenFile[]): Promise<void> {
    if (!this.#overwrites) {
      const texts = await Promise.all(created.map(({ name }) => this.read(name)));
      const existing = created.filter((_, index) => texts[index] !== null);
      if (existing.length > 0) {
        throw new ConfigurationError(existing.map(({ name }) => `${name}: ${writeFault('EEXIST')}`));
      }
    }
    // One after the other: a failed write names its file, and those before it are complete.
    for (const file of created) await this.#writeFile(file, this.#overwrites ? 'w' : 'wx');
    for (const file of amended) await this.#writeFile(file, 'w');
  }

  async #writeFile({ name, text, mode }: WrittenFile, flag: 'w' | 'wx'): Promise<void> {
    const path = resolve(this.#path, name);
    try {
      if (name.includes('/')) await mkdir(dirname(path), { recursive: true });
      // The mode of writeFile is that of new files only.
      if (mode !== undefined) await chmod(path, mode).catch(() => undefined);
      await writeFile(path, text, { flag, ...(mode === undefined ? {} : { mode }) });
    } catch (error) {
      throw new ConfigurationError([
        `${name}: ${writeFault((error as NodeJS.ErrnoException).code ?? 'unknown error')}`,
      ]);
    }
  }
}

function writeFault(code: string): string {
  if (code === 'EEXIST') return 'the file exists; pass --force to overwrite it, or choose another folder';
  return `cannot write the file (${code}); choose another one, as in pgway init other.json`;
}

/** Returns the files of the project that keep what they have: package.json, .env and .gitignore. */
async function amendedFiles(folder: ProjectFolder, choices: Choices, dotenv: string): Promise<readonly WrittenFile[]> {
  const gitignore = (await folder.read('.gitignore')) ?? '';
  const lines = gitignore.split(/\r?\n/);
  const ignored = withLines(
    gitignore,
    ignoredFiles.filter((line) => !lines.includes(line)),
  );
  const files = [
    { name: 'package.json', before: await folder.read('package.json'), after: amendPackage },
    { name: '.env', before: dotenv, after: () => amendVariables(dotenv, choices), mode: 0o600 },
    { name: '.gitignore', before: gitignore, after: () => ignored },
  ];
  return files.flatMap(({ before, after, ...file }) => {
    const text = after(before);
    return text === (before ?? '') ? [] : [{ ...file, text }];
  });
}

function withLines(text: string, lines: readonly string[]): string {
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  return lines.length === 0 ? text : `${text}${separator}${lines.join('\n')}\n`;
}

/** @throws ConfigurationError */
function amendVariables(dotenv: string, choices: Choices): string {
  const existing = parseEnv(dotenv);
  const added = Object.entries(projectVariables(choices)).filter(([name]) => existing[name] === undefined);
  return withLines(dotenv, added.map(variableLine));
}

/** @throws ConfigurationError for a value that no quotes can hold */
function variableLine([name, value]: readonly [string, string]): string {
  for (const quote of ['', "'", '"', '`']) {
    const line = `${name}=${quote}${value}${quote}`;
    if (parseEnv(line)[name] === value) return line;
  }
  throw new ConfigurationError([`${name}: the value cannot be written to .env; set it in the environment`]);
}

/** Adds the scripts and dependencies that are missing. @throws ConfigurationError */
function amendPackage(text: string | null): string {
  const required = { dependencies: { pgway: `^${version()}` }, devDependencies: { typescript: '^7.0.2' } };
  if (text === null) return `${JSON.stringify({ private: true, type: 'module', scripts, ...required }, null, 2)}\n`;
  const contents = parsePackage(text);
  const sectionOf = (name: string): Readonly<Record<string, string>> => ({ ...(contents[name] as object | undefined) });
  const installed = { ...sectionOf('dependencies'), ...sectionOf('devDependencies') };
  const amended = { ...contents, scripts: { ...scripts, ...sectionOf('scripts') } };
  for (const [section, packages] of Object.entries(required)) {
    const missing = Object.entries(packages).filter(([name]) => !Object.hasOwn(installed, name));
    if (missing.length > 0)
      Object.assign(amended, { [section]: { ...sectionOf(section), ...Object.fromEntries(missing) } });
  }
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? 2;
  return `${JSON.stringify(amended, null, indent)}\n`;
}

function parsePackage(text: string): Readonly<Record<string, unknown>> {
  try {
    const contents: unknown = JSON.parse(text);
    if (typeof contents === 'object' && contents !== null && !Array.isArray(contents)) return { ...contents };
  } catch {
    // The error below tells.
  }
  throw new ConfigurationError(['package.json: is not a JSON object; correct it']);
}
