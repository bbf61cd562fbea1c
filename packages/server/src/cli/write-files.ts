import type { Endpoint } from '@pgway/core';
import { compareFiles, type FileState, GeneratorError, writeFiles } from '@pgway/generators';
import type { Configuration } from '../config/schema.ts';
import { generateFileSets } from '../generated-files.ts';
import { escapeControlCharacters } from '@pgway/core/terminal';

export interface GenerateContext {
  readonly configuration: Configuration;
  readonly connectionString: string;
  readonly workingDirectory: string;
  readonly print: (line: string) => void;
}

const stateTexts: Readonly<Record<FileState, string>> = {
  missing: 'written',
  different: 'overwritten',
  same: 'unchanged',
};

/**
 * Writes all configured files, and prints the state of each.
 * @param quiet prints no unchanged files
 * @throws GeneratorError before any write when a file must not be overwritten, and for files that cannot be written
 */
export async function writeGeneratedFiles(
  endpoints: readonly Endpoint[],
  context: GenerateContext,
  quiet: boolean,
): Promise<void> {
  const { workingDirectory: folder, print } = context;
  const sets = generateFileSets(endpoints, context.configuration, context.connectionString);
  await checkOverwrites(sets, folder);
  for (const { files, overwrite } of sets) {
    // Files are printed in order.
    for (const { path, state } of await writeFiles(files, { folder, overwrite })) {
      if (!quiet || state !== 'same') print(`${escapeControlCharacters(path)}  ${stateTexts[state]}`);
    }
  }
}

/** Throws before the first write: a part of the files would not match the rest. */
async function checkOverwrites(sets: ReturnType<typeof generateFileSets>, folder: string): Promise<void> {
  const conflicts = await Promise.all(
    sets
      .filter(({ overwrite }) => !overwrite)
      .map(async ({ section, files }) =>
        (await compareFiles(files, { folder }))
          .filter(({ state }) => state === 'different')
          .map(({ path }) => `${path} exists with other content; remove it or set ${section}.fileOverwrite`),
      ),
  );
  const messages = conflicts.flat();
  if (messages.length > 0) throw new GeneratorError(messages.join('; '));
}

/** Prints missing and outdated files without writing. Returns whether all files are up to date. */
export async function checkGeneratedFiles(endpoints: readonly Endpoint[], context: GenerateContext): Promise<boolean> {
  const { workingDirectory: folder, print } = context;
  const sets = generateFileSets(endpoints, context.configuration, context.connectionString);
  const compared = (await Promise.all(sets.map(({ files }) => compareFiles(files, { folder })))).flat();
  const stale = compared.filter(({ state }) => state !== 'same');
  for (const { path, state } of stale) {
    print(`${escapeControlCharacters(path)}  ${state === 'missing' ? 'missing' : 'out of date'}`);
  }
  if (stale.length === 0) print(`${compared.length} ${compared.length === 1 ? 'file is' : 'files are'} up to date`);
  return stale.length === 0;
}
