import { constants as fileConstants } from 'node:fs';
import { lstat, mkdir, open, realpath, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Problem } from '../http/problem.ts';
import type { UploadContext, UploadFile, UploadHandler } from '../ports/upload-handler.ts';
import { commentOptions } from './comment-options.ts';
import { fileSystemUploadOptions, type FileSystemUploadOptions } from './options.ts';
import { safeFileName, uniqueFileName } from './file-name.ts';
import { FilePublisher, temporaryPath } from './publish-file.ts';
import { isStorageFull } from './storage-error.ts';

/** Creates the handler that stores each file in a folder. The metadata has its `filePath`. */
export function fileSystemHandler(options: Partial<FileSystemUploadOptions> = {}): UploadHandler {
  const publisher = new FilePublisher();
  return {
    options: commentOptions(fileSystemUploadOptions, options, { path: { type: 'path' }, file: { type: 'path' } }),
    refusedMembers: { members: { filePath: null } },
    store: async (upload, context) => {
      try {
        const { folder, shown } = await openFolder(context);
        const name = selectName(upload, context.options);
        await store(upload, context, join(folder, name), publisher);
        return { status: 'Ok', members: { filePath: join(shown, name) } };
      } catch (error) {
        throw toUploadError(error, upload, context.signal);
      }
    },
  };
}

function selectName({ fileName }: UploadFile, options: UploadContext['options']): string {
  const { file, unique_name: isUnique } = options as { file: string | null; unique_name: boolean };
  const name = file !== null ? safeFileName(file) : isUnique ? null : safeFileName(fileName);
  return name ?? uniqueFileName(fileName);
}

/** A folder: its absolute path without symbolic links, and its path in the metadata. */
interface Folder {
  readonly folder: string;
  readonly shown: string;
}

/**
 * Opens the folder. Links in the configured part of the path are followed. Behind the first template they are refused, as the client decides
 * which folder of these it is. Each tenant has a folder of its own at the end of the configured part.
 */
async function openFolder({ options, templates, tenant }: UploadContext): Promise<Folder> {
  const { path, create_path: createPath } = options as { path: string; create_path: boolean };
  const length = configuredLength(path, templates['path']);
  const root = join(path.slice(0, length), tenant ?? '');
  const configured = resolve(root);
  if (createPath) await mkdir(configured, { recursive: true });
  let folder = await realpath(configured);
  const components = path.slice(length).split(separators);
  for (const component of components.filter((text) => text !== '' && text !== '.')) {
    folder = join(folder, component);
    // In order: each folder is in the one before.
    await openSubfolder(folder, component, createPath);
  }
  return { folder, shown: tenant === null ? path : join(root, path.slice(length)) };
}

const separators = sep === '/' ? /\// : /[/\\]/;

/** Returns how many characters of the path come before the component with the first template. */
function configuredLength(path: string, template: string | undefined): number {
  if (template === undefined) return path.length;
  const [literal = ''] = template.split('{');
  return literal.length - literal.split(separators).at(-1)!.length;
}

async function openSubfolder(folder: string, name: string, createPath: boolean): Promise<void> {
  if (name === '..') throw new Problem('invalid-parameter', { detail: 'The folder must not contain "..".' });
  if (createPath) await createFolder(folder);
  const stats = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Problem('invalid-parameter', { detail: `The folder "${name}" does not exist.` });
  });
  if (stats.isDirectory()) return;
  throw new Problem('file-name-conflict', { detail: `"${name}" exists and is not a folder.` });
}

async function createFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes the file under a temporary name, and moves it to its final name when it is complete. */
async function store(
  { content }: UploadFile,
  { options, signal, onCommit, onRollback }: UploadContext,
  path: string,
  publisher: FilePublisher,
): Promise<void> {
  const temporary = temporaryPath(dirname(path));
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = fileConstants;
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o640);
  try {
    try {
      // The stream joins chunks that arrive during a write to the next one.
      const stream = file.createWriteStream({ highWaterMark: options['buffer_size'] as number });
      await pipeline(content, stream, { signal });
    } finally {
      await file.close();
    }
    const published = await publisher.publish(temporary, path);
    onRollback(published.rollback);
    onCommit(published.commit);
  } catch (error) {
    // The first error tells more than one of the removal.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Returns the error for the response, which does not contain paths of the server. */
function toUploadError(error: unknown, { fileName }: UploadFile, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (!isFileError(error)) return error;
  return isStorageFull(error)
    ? new Problem('insufficient-storage', { detail: `No space is left for "${fileName}".`, cause: error })
    : new Problem('internal', { detail: `"${fileName}" could not be stored.`, cause: error });
}

/** Returns whether an operation on the file system has failed. Only the content is read: that is an error of the network. */
function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error && 'syscall' in error && error.syscall !== 'read';
}
