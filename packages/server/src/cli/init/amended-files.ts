/** The files of a project that keep what they have: package.json, .env and .gitignore. */
import { parseEnv } from 'node:util';
import { ConfigurationError } from '../../config/configuration-error.ts';
import { version } from '../../version.ts';
import type { Choices } from './choices.ts';
import { ignoredFiles, projectVariables, scripts } from './project-files.ts';
import type { ProjectFolder, WrittenFile } from './project-folder.ts';

/** Returns those files that change. @throws ConfigurationError for one that cannot be read or amended */
export async function amendedFiles(
  folder: ProjectFolder,
  choices: Choices,
  dotenv: string,
): Promise<readonly WrittenFile[]> {
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
