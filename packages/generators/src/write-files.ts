import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type GeneratedFile, GeneratorError } from './generated-file.ts';
import { quote } from './source-text.ts';

/** Whether the generated file exists on disk, with the same content. */
export type FileState = 'missing' | 'different' | 'same';

/** A generated file compared with the disk. */
export interface FileComparison {
  /** As in `GeneratedFile`. */
  readonly path: string;
  readonly state: FileState;
}

export interface WriteFilesOptions {
  /** The folder of relative paths. */
  readonly folder: string;
  /** Whether existing files with other content are replaced. */
  readonly overwrite: boolean;
}

/**
 * Compares files with the disk, except for timestamps and line endings.
 * @throws GeneratorError for duplicate paths and files that cannot be read
 */
export async function compareFiles(
  files: readonly GeneratedFile[],
  { folder }: Pick<WriteFilesOptions, 'folder'>,
): Promise<readonly FileComparison[]> {
  rejectSharedPaths(files, folder);
  return Promise.all(files.map(async (file) => ({ path: file.path, state: await readState(file, folder) })));
}

/**
 * Writes missing and different files atomically: to a temporary file that is renamed. A file that differs only in its
 * timestamp stays.
 * @returns the comparison before the write
 * @throws GeneratorError before any write when a file must not be replaced, and for files that cannot be written
 */
export async function writeFiles(
  files: readonly GeneratedFile[],
  options: WriteFilesOptions,
): Promise<readonly FileComparison[]> {
  const compared = await compareFiles(files, options);
  const conflicts = compared.filter(({ state }) => state === 'different').map(({ path }) => quote(path));
  if (!options.overwrite && conflicts.length > 0) {
    throw new GeneratorError(
      `${conflicts.join(', ')}: ${conflicts.length === 1 ? 'the file exists with other content; remove it' : 'the files exist with other content; remove them'} or set fileOverwrite`,
    );
  }
  for (const [index, file] of files.entries()) {
    // The first error ends the writes.
    if (compared[index]!.state !== 'same') await replace(file, options.folder);
  }
  return compared;
}

function rejectSharedPaths(files: readonly GeneratedFile[], folder: string): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    const absolute = resolve(folder, path);
    if (seen.has(absolute))
      throw new GeneratorError(`${quote(path)}: the path of two generated files; give them different paths`);
    seen.add(absolute);
  }
}

async function readState(file: GeneratedFile, folder: string): Promise<FileState> {
  try {
    const text = await readFile(resolve(folder, file.path), 'utf8');
    return withoutTimestamps(text, file) === withoutTimestamps(file.content, file) ? 'same' : 'different';
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return 'missing';
    throw new GeneratorError(`${quote(file.path)} cannot be read: ${describeCode(code)}`, { cause: error });
  }
}

/** Version control may have converted line endings. */
function withoutTimestamps(text: string, { timestampLines }: GeneratedFile): string {
  const lines = text.split(/\r?\n/);
  return lines.filter((_, index) => !timestampLines.includes(index)).join('\n');
}

async function replace({ path, content }: GeneratedFile, folder: string): Promise<void> {
  const whole = resolve(folder, path);
  let temporary: string | null = null;
  try {
    await mkdir(dirname(whole), { recursive: true });
    // Replaces the target of a symbolic link, not the link.
    const target = await realpath(whole).catch(() => whole);
    temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    if (temporary !== null) await rm(temporary, { force: true }).catch(() => undefined);
    throw new GeneratorError(`${quote(path)} cannot be written: ${describeCode(errorCode(error))}`, { cause: error });
  }
}

function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EISDIR: 'the path is a folder',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a part of the path is a file',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
};

function describeCode(code: string): string {
  const reason = reasons[code];
  return reason === undefined ? code : `${reason} (${code})`;
}
