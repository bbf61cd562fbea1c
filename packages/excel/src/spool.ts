import { Problem } from '@pgway/core';
import { isStorageFull } from '@pgway/core/internal';
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary file that has no name any more, or loses it when it is closed. */
export interface TemporaryFile {
  readonly fd: number;
  close(): Promise<void>;
}

/**
 * Writes a stream to a temporary file.
 * @throws Problem 507 when the disk is full, and the errors of the stream
 */
export async function writeTemporaryFile(content: AsyncIterable<Uint8Array>): Promise<TemporaryFile> {
  const path = join(tmpdir(), `pgway-${randomUUID()}.xlsx`);
  const file = await open(path, 'wx+', 0o600);
  // Windows cannot remove an open file.
  const unlinkLater = await unlink(path).then(
    () => false,
    () => true,
  );
  const close = async (): Promise<void> => {
    await file.close();
    if (unlinkLater) await unlink(path);
  };
  try {
    await writeAll(file, content);
  } catch (error) {
    await close();
    if (!isStorageFull(error)) throw error;
    throw new Problem('insufficient-storage', {
      detail: 'The temporary folder has no space for the workbook.',
      cause: error,
    });
  }
  return { fd: file.fd, close };
}

async function writeAll(file: FileHandle, content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of content) {
    for (let start = 0; start < chunk.length;) {
      const { bytesWritten } = await file.write(chunk, start);
      start += bytesWritten;
    }
  }
}
