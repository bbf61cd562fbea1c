/** `pgscout --tree <folder>`: one file for each object, for version control. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { writeFiles } from '@pgway/generators/files';
import { escapeControlCharacters } from '@pgway/core/terminal';
import { readObjects } from '../catalog/objects.ts';
import { omissionNote, readOmissions } from '../catalog/omissions.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { systemSchema } from '../ddl/definitions/member-privileges.ts';
import { definitionOptions, definitionText } from '../ddl/definition-text.ts';
import { type Definition, readDefinitions } from '../ddl/read-definitions.ts';
import { indexFile, indexPaths } from '../schema-files/tree-index.ts';
import { filePaths } from './file-paths.ts';

const filesAtOnce = 100;

/** Writes new and changed definitions, removes the files of dropped objects, and prints the changes. */
export async function runTree({
  process,
  operands,
  options,
  progress,
  signal,
  withConnection,
}: CommandContext): Promise<number> {
  const [name, ...others] = operands;
  if (name === undefined || others.length > 0) throw new UsageError('--tree: needs one folder, as in --tree schema');
  const folder = resolve(process.workingDirectory, name);
  const former = await readIndex(folder, name);
  const { definitions, omissions } = await withConnection(({ client }) =>
    inSnapshot(client, async () => {
      const objects = [...(await readObjects(client, progress)), systemSchema];
      return {
        definitions: await readDefinitions(client, objects, definitionOptions(options), progress),
        omissions: await readOmissions(client),
      };
    }),
  );
  process.stderr.write(omissions.map(({ text }) => `note: ${omissionNote(text)}\n`).join(''));
  const files = definitionFiles(definitions);
  const present = new Set(files.map(({ path }) => path));
  const removed = former.filter((path) => !present.has(path));
  // A command that ends early leaves a folder that the next one knows as its own.
  await writeIndex(folder, [...present, ...removed]);
  const print = (line: string): void => process.stdout.write(`${escapeControlCharacters(line)}\n`);
  for (const path of removed) await rm(join(folder, path), { force: true });
  for (const path of removed) print(`${path}  removed`);
  let changed = removed.length;
  for (let start = 0; start < files.length; start += filesAtOnce) {
    signal.throwIfAborted();
    progress.show(`writing files: ${start} of ${files.length}`);
    const part = files.slice(start, start + filesAtOnce);
    for (const { path, state } of await writeFiles(part, { folder, overwrite: true })) {
      if (state === 'same') continue;
      changed++;
      print(`${path}  ${state === 'missing' ? 'written' : 'overwritten'}`);
    }
  }
  await writeIndex(folder, [...present]);
  process.stderr.write(`${files.length} files, ${changed} changed\n`);
  return 0;
}

async function writeIndex(folder: string, paths: readonly string[]): Promise<void> {
  const index = { path: indexFile, content: `${paths.toSorted().join('\n')}\n`, timestampLines: [] };
  await writeFiles([index], { folder, overwrite: true });
}

/** @throws CommandError for a folder with files and without an index: they are those of another program */
async function readIndex(folder: string, name: string): Promise<readonly string[]> {
  try {
    const paths = indexPaths(await readFile(join(folder, indexFile), 'utf8'));
    return paths.filter((path) => resolve(folder, path).startsWith(`${folder}${sep}`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CommandError(`${name}: cannot read the folder (${error.code})`);
  });
  const [entry] = entries.filter((file) => !file.startsWith('.'));
  if (entry === undefined) return [];
  throw new CommandError(
    `${name}: the folder has files of others, such as ${JSON.stringify(entry)}; pass a new folder`,
  );
}

/** A cycle divides the definition of an object; its file has all parts. */
function definitionFiles(definitions: readonly Definition[]): Parameters<typeof writeFiles>[0] {
  const joined = new Map<Definition['object'], Definition>();
  for (const { object, statements } of definitions) {
    joined.set(object, { object, statements: [...(joined.get(object)?.statements ?? []), ...statements] });
  }
  const all = [...joined.values()];
  const paths = filePaths(all.map(({ object }) => object));
  return all.map((definition, index) => ({
    path: paths[index]!,
    content: definitionText([definition]),
    timestampLines: [],
  }));
}
