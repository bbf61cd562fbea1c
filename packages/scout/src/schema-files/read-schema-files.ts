/** Reads the scripts of a schema: a file, a folder of `--tree`, or one of them in a commit. */
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { CommandError } from '../process/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { parseCommitPath, readCommit } from './git.ts';
import { indexFile, indexPaths } from './tree-index.ts';

export interface SchemaFile {
  /** For messages. */
  readonly name: string;
  readonly content: string;
}

export interface SchemaFiles {
  /** Such as `folder "schema"`. */
  readonly title: string;
  /** Whether the files have one object each, in no order. */
  readonly isTree: boolean;
  readonly files: readonly SchemaFile[];
}

/** Whether a text that names no connection names files: a commit, a script, or an existing file or folder. */
export async function namesFiles(text: string, { workingDirectory }: ProcessContext): Promise<boolean> {
  if (text.startsWith('git:')) return true;
  if (text.includes('://')) return false;
  if (/\.sql$/i.test(text) && !text.includes('=')) return true;
  if (text.includes('\0')) return false;
  return stat(resolve(workingDirectory, text)).then(
    () => true,
    () => /^\.{0,2}\//.test(text),
  );
}

/** @throws CommandError for files that cannot be read; UsageError for an invalid name of a commit */
export function readSchemaFiles(text: string, process: ProcessContext): Promise<SchemaFiles> {
  return text.startsWith('git:') ? fromCommit(text, process) : fromDisk(text, process);
}

async function fromDisk(text: string, { workingDirectory }: ProcessContext): Promise<SchemaFiles> {
  const path = resolve(workingDirectory, text);
  const status = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${text}: ${error.code === 'ENOENT' ? 'no such file or folder' : `cannot be read (${error.code})`}`,
    );
  });
  if (status.isFile()) {
    return {
      title: `file ${JSON.stringify(text)}`,
      isTree: false,
      files: [{ name: text, content: await read(path, text) }],
    };
  }
  if (!status.isDirectory()) throw new CommandError(`${text}: is not a file or a folder`);
  const index = await readFile(join(path, indexFile), 'utf8').catch(() => null);
  const names = new Set(await readdir(path, { recursive: true }));
  const paths = treePaths(text, index, (name) => names.has(name.split('/').join(sep)));
  const files: SchemaFile[] = [];
  for (const name of paths) {
    if (!resolve(path, name).startsWith(`${path}${sep}`)) throw foreign(text, name);
    // A link of a foreign repository could name any file.
    if (!(await lstat(join(path, name))).isFile()) {
      throw new CommandError(`${text}: ${name}: is a symbolic link or not a file; pass a folder of pgscout --tree`);
    }
    files.push({ name, content: await read(join(path, name), `${text}: ${name}`) });
  }
  return { title: `folder ${JSON.stringify(text)}`, isTree: true, files };
}

async function fromCommit(text: string, process: ProcessContext): Promise<SchemaFiles> {
  const name = parseCommitPath(text);
  const { commit, isFolder, files } = await readCommit(name, process);
  const origin = `of the commit ${commit.slice(0, 12)} (${JSON.stringify(name.revision)})`;
  if (!isFolder) {
    const { content } = files[0]!;
    return { title: `file ${JSON.stringify(name.path)} ${origin}`, isTree: false, files: [{ name: text, content }] };
  }
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const paths = treePaths(text, contents.get(indexFile) ?? null, (path) => contents.has(path));
  return {
    title: `folder ${JSON.stringify(name.path)} ${origin}`,
    isTree: true,
    files: paths.map((path) => ({ name: path, content: contents.get(path)! })),
  };
}

/** Returns the files of a folder of `--tree`. */
function treePaths(text: string, index: string | null, exists: (path: string) => boolean): readonly string[] {
  if (index === null) {
    throw new CommandError(
      `${text}: the folder has no ${indexFile}, and is none of pgscout --tree; pass such a folder, or one .sql file`,
    );
  }
  const paths = indexPaths(index);
  const missing = paths.find((path) => !exists(path));
  if (missing === undefined) return paths;
  throw missing.split('/').includes('..')
    ? foreign(text, missing)
    : new CommandError(
        `${text}: ${indexFile} lists ${JSON.stringify(missing)}, which is not there; run pgscout --tree again`,
      );
}

function foreign(text: string, path: string): CommandError {
  return new CommandError(`${text}: ${indexFile} lists ${JSON.stringify(path)}, which is outside of the folder`);
}

function read(path: string, name: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${name}: cannot be read (${error.code})`);
  });
}
