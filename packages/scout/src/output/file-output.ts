/** The file of `--output`: complete, or as it was before. */
import { randomBytes } from 'node:crypto';
import { chmod, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError } from '../process/errors.ts';
import type { Output, ProcessContext } from '../process/process-context.ts';

export interface FileOutput extends Output {
  /** Removes what was written, unless `finish` has replaced the file. */
  discard(): Promise<void>;
}

/**
 * Opens a temporary file next to the file, which `finish` replaces.
 * @throws CommandError when the file cannot be written
 */
export async function createFileOutput(name: string, { workingDirectory }: ProcessContext): Promise<FileOutput> {
  const path = resolve(workingDirectory, name);
  // A symbolic link remains one.
  const target = await realpath(path).catch(() => path);
  const status = await stat(target).catch(() => null);
  if (status !== null && !status.isFile()) throw new CommandError(`--output: ${name} is not a file; pass another name`);
  const temporary = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomBytes(6).toString('hex')}`);
  const failed = (error: NodeJS.ErrnoException): CommandError => {
    const reason = error.code === 'ENOENT' ? 'the folder does not exist' : error.message;
    return new CommandError(`--output: ${name} cannot be written: ${reason}`);
  };
  const file = await open(temporary, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw failed(error);
  });
  let fault: NodeJS.ErrnoException | null = null;
  let written: Promise<unknown> = Promise.resolve();
  const append = async (text: string): Promise<boolean> => {
    if (fault === null) await file.writeFile(text).catch((error: NodeJS.ErrnoException) => (fault = error));
    return fault === null;
  };
  const writeAll = (text: string): Promise<boolean> => {
    const result = written.then(() => append(text));
    written = result;
    return result;
  };
  return {
    write: (text) => void writeAll(text),
    writeAll,
    finish: async () => {
      await written;
      try {
        if (fault !== null) throw fault;
        await file.sync();
        await file.close();
        if (status !== null) await chmod(temporary, status.mode & 0o7777);
        await rename(temporary, target);
      } catch (error) {
        throw failed(error as NodeJS.ErrnoException);
      }
    },
    discard: async () => {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
    },
  };
}
