import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type GeneratedFile, GeneratorError } from './generated-file.ts';
import { quote } from './source-text.ts';

/** How a file of the disk is to the generated one. */
export type FileState = 'missing' | 'different' | 'same';

export interface FileComparison {
  /** As the generator named it. */
  readonly path: string;
  readonly state: FileState;
}

export interface WriteFilesOptions {
  /** Where relative paths begin. */
  readonly folder: string;
  /** Whether a file that differs may be replaced. */
  readonly overwrite: boolean;
}

/**
 * What the disk has of these files, the lines that tell a time aside. Writes nothing.
 * @throws GeneratorError for a file that cannot be read, and for two of one path
 */
export async function compareFiles(
  files: readonly GeneratedFile[],
  { folder }: Pick<WriteFilesOptions, 'folder'>,
): Promise<readonly FileComparison[]> {
  rejectSharedPaths(files, folder);
  return Promise.all(files.map(async (file) => ({ path: file.path, state: await readState(file, folder) })));
}

/**
 * Writes those files that differ from the disk: aside, and then renamed, so that nobody sees half of one. A file that
 * differs in nothing but its time is left as it is.
 * @returns what was found before
 * @throws GeneratorError when a file differs and may not be replaced, before any is written; or cannot be written
 */
export async function writeFiles(
  files: readonly GeneratedFile[],
  manner: WriteFilesOptions,
): Promise<readonly FileComparison[]> {
  const compared = await compareFiles(files, manner);
  const refused = compared.filter(({ state }) => state === 'different').map(({ path }) => quote(path));
  if (!manner.overwrite && refused.length > 0) {
    throw new GeneratorError(
      `${refused.join(', ')}: there ${refused.length === 1 ? 'is another file' : 'are other files'} already; remove it, or allow it with fileOverwrite`,
    );
  }
  for (const [index, file] of files.entries()) {
    // One after the other: the first that fails is told, and no other one is under way.
    // oxlint-disable-next-line no-await-in-loop
    if (compared[index]!.state !== 'same') await replace(file, manner.folder);
  }
  return compared;
}

function rejectSharedPaths(files: readonly GeneratedFile[], folder: string): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    const absolute = resolve(folder, path);
    if (seen.has(absolute))
      throw new GeneratorError(`${quote(path)}: two files would be written there; give them different paths`);
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

/** Line ends may have become those of another system on the way through a repository. */
function withoutTimestamps(text: string, { timestampLines }: GeneratedFile): string {
  const lines = text.split(/\r?\n/);
  return lines.filter((_, index) => !timestampLines.includes(index)).join('\n');
}

async function replace({ path, content }: GeneratedFile, folder: string): Promise<void> {
  const whole = resolve(folder, path);
  let temporary: string | null = null;
  try {
    await mkdir(dirname(whole), { recursive: true });
    // A link stays a link: what it leads to is replaced.
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
  EACCES: 'this user may not do so',
  EPERM: 'this user may not do so',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EISDIR: 'there is a folder of that name',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a part of the path is a file',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links lead in a circle',
};

function describeCode(code: string): string {
  const reason = reasons[code];
  return reason === undefined ? code : `${reason} (${code})`;
}
