/** The folder of `--output`: complete, or not there. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError } from '../process/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';

interface NewFile {
  readonly name: string;
  readonly text: string;
}

/** Writes files into a folder that is new or empty. @throws CommandError when it has files, or cannot be written */
export async function writeFolder(
  name: string,
  files: readonly NewFile[],
  { workingDirectory }: ProcessContext,
): Promise<void> {
  const path = resolve(workingDirectory, name);
  const entries = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw failed(name, error);
  });
  if (entries !== null && entries.length > 0) {
    throw new CommandError(`--output: the folder ${name} is not empty; pass a new one, or a name that ends with .sql`);
  }
  const temporary = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(temporary, { recursive: true });
    for (const file of files) await writeFile(join(temporary, file.name), file.text, { flush: true });
    if (entries !== null) await rmdir(path);
    await rename(temporary, path);
  } catch (error) {
    throw failed(name, error as NodeJS.ErrnoException);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function failed(name: string, { code, message }: NodeJS.ErrnoException): CommandError {
  const reason = code === 'ENOTDIR' ? 'it is a file; pass a name that ends with .sql, or that of a folder' : message;
  return new CommandError(`--output: ${name} cannot be written: ${reason}`);
}
