import { compareFiles, type Endpoint, type FileState, GeneratorError, writeFiles } from '@pgway/core';
import type { Configuration } from '../config/schema.ts';
import { fileSets } from '../generated-files.ts';
import { neutralise } from '../terminal-text.ts';

/** What generating needs to know of its surroundings. */
export interface Workshop {
  readonly configuration: Configuration;
  readonly connectionString: string;
  readonly workingDirectory: string;
  readonly print: (line: string) => void;
}

const words: Readonly<Record<FileState, string>> = {
  missing: 'written',
  different: 'written again',
  same: 'unchanged',
};

/**
 * Writes all files that the configuration asks for, and prints what became of each.
 * @param quiet says nothing of files that stay as they are
 * @throws GeneratorError before anything is written, when a file may not be; or when it cannot be
 */
export async function writeAll(endpoints: readonly Endpoint[], workshop: Workshop, quiet: boolean): Promise<void> {
  const { workingDirectory: folder, print } = workshop;
  const sets = fileSets(endpoints, workshop.configuration, workshop.connectionString);
  await refuseAll(sets, folder);
  for (const { files, overwrite } of sets) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as they are printed
    for (const { path, state } of await writeFiles(files, { folder, overwrite })) {
      if (!quiet || state !== 'same') print(`${neutralise(path)}  ${words[state]}`);
    }
  }
}

/** Either all may be written, or none is: half a set of files fits nothing. */
async function refuseAll(sets: ReturnType<typeof fileSets>, folder: string): Promise<void> {
  const refused = await Promise.all(
    sets
      .filter(({ overwrite }) => !overwrite)
      .map(async ({ section, files }) =>
        (await compareFiles(files, { folder }))
          .filter(({ state }) => state === 'different')
          .map(({ path }) => `${path} differs from what is there: remove it, or set ${section}.fileOverwrite`),
      ),
  );
  const lines = refused.flat();
  if (lines.length > 0) throw new GeneratorError(lines.join('; '));
}

/** Writes nothing; names the files that are out of date. @returns whether there are none */
export async function compareAll(endpoints: readonly Endpoint[], workshop: Workshop): Promise<boolean> {
  const { workingDirectory: folder, print } = workshop;
  const sets = fileSets(endpoints, workshop.configuration, workshop.connectionString);
  const compared = (await Promise.all(sets.map(({ files }) => compareFiles(files, { folder })))).flat();
  const stale = compared.filter(({ state }) => state !== 'same');
  for (const { path, state } of stale) print(`${neutralise(path)}  ${state === 'missing' ? 'missing' : 'out of date'}`);
  if (stale.length === 0) print(`${compared.length} ${compared.length === 1 ? 'file is' : 'files are'} up to date`);
  return stale.length === 0;
}
