import { parseEnv } from 'node:util';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { defaultFile } from '../../config/configuration-files.ts';
import type { Environment } from '../../config/environment.ts';
import type { Override } from '../../config/layers.ts';
import { configurationTemplate } from '../../config/template.ts';
import type { Arguments } from '../arguments.ts';
import type { ProcessContext } from '../../process-context.ts';
import { isTerminal, onTerminal } from '../secret-input.ts';
import { amendedFiles } from './amended-files.ts';
import { applyStatements } from './apply-statements.ts';
import { choose } from './choices.ts';
import { databaseStatements, projectConfiguration, type ProjectFile, projectFiles, scripts } from './project-files.ts';
import { ProjectFolder } from './project-folder.ts';

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
