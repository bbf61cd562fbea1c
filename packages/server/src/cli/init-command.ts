import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigurationError } from '../config/configuration-error.ts';
import { defaultFile } from '../config/configuration-files.ts';
import { configurationTemplate } from '../config/template.ts';
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Flag } from './arguments.ts';
import type { ProcessContext } from '../process-context.ts';

/**
 * Runs `pgway init`: writes a configuration file with comments. Returns the exit code.
 * @param file null: `pgway.json`
 * @throws ConfigurationError when the file exists and `--force` is not passed, and when it cannot be written
 */
export async function runInit(file: string | null, flags: ReadonlySet<Flag>, process: ProcessContext): Promise<number> {
  const name = file ?? defaultFile;
  const flag = flags.has('force') ? 'w' : 'wx';
  try {
    await writeFile(resolve(process.workingDirectory, name), configurationTemplate(), { flag });
  } catch (error) {
    throw new ConfigurationError([`${name}: ${writeFault((error as NodeJS.ErrnoException).code ?? 'unknown error')}`]);
  }
  process.stdout.write(
    nextSteps(name)
      .map((line) => `${escapeControlCharacters(line)}\n`)
      .join(''),
  );
  return 0;
}

function writeFault(code: string): string {
  if (code === 'EEXIST') return 'the file exists; pass --force to overwrite it, or another name';
  if (code === 'ENOENT') return 'the folder of the file does not exist; create it';
  return `cannot write the file (${code}); choose another one, as in pgway init other.json`;
}

function nextSteps(name: string): readonly string[] {
  const argument = name === defaultFile ? '' : ` ${name}`;
  return [
    `${name} written. Next:`,
    '  1. Name your database in a .env file, which you keep out of version control:',
    '     DATABASE_URL=postgres://user:password@localhost:5432/mydb',
    '     Without a database, the embedded PostgreSQL starts with an example.',
    `  2. Print the values that take effect: npx pgway config${argument}`,
    `  3. Check the database and its comments: npx pgway validate${argument}`,
    `  4. Start the server: npx pgway${argument}`,
  ];
}
