/** A log file that is rotated by size and time. */
import { appendFileSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';
import type { BatchSink } from './batch-queue.ts';

export interface LogFileOptions {
  /** An absolute path. */
  readonly path: string;
  /** Bytes after which a new file is begun. */
  readonly maxSize: number;
  /** When a new file is begun besides; null: by size only. */
  readonly interval: 'hour' | 'day' | null;
  /** The number of older files that are kept: `pgway.log.1` is the newest of them. */
  readonly maxFiles: number;
}

/** Not for other users: lines have names and addresses of clients. */
const modes = { file: 0o640, directory: 0o750 } as const;

/** Appends lines at the exit of a process. Errors are ignored: no output is left for a report. */
export function appendAtExit(path: string, lines: Uint8Array): void {
  if (lines.length === 0) return;
  try {
    appendFileSync(path, lines, { mode: modes.file });
  } catch {
    // As above.
  }
}

/** Writes blocks of lines to the file, and opens it again after a failure. */
export class LogFile implements BatchSink<Uint8Array> {
  readonly #options: LogFileOptions;
  #stream: RotatingFileStream | null = null;
  /** Whether the last write has failed: it may have left a part of a line. */
  #hasFailed = false;
  /** The size that the file has after the last write; null before that has begun. */
  #nextSize: number | null = null;

  constructor(options: LogFileOptions) {
    this.#options = options;
  }

  async write(blocks: readonly Uint8Array[]): Promise<number> {
    this.#nextSize = null;
    await mkdir(dirname(this.#options.path), { recursive: true, mode: modes.directory });
    if (this.#stream?.destroyed === true) this.#stream = null;
    const stream = (this.#stream ??= this.#open());
    const bytes = Buffer.concat([Buffer.from(this.#hasFailed ? '\n' : ''), ...blocks]);
    this.#hasFailed = true;
    const nextSize = (await sizeOf(this.#options.path)) + bytes.length;
    this.#nextSize = nextSize;
    const isRotated = await write(stream, bytes);
    // On a full disk, a write may store a part of the bytes without an error.
    if (!isRotated && (await sizeOf(this.#options.path)) < nextSize) {
      stream.destroy();
      throw new Error('ENOSPC: no space left on device, write');
    }
    this.#hasFailed = false;
    return 0;
  }

  /** Appends at the exit of the process; first the lines of the write that runs, unless the file has them. */
  appendAtExit(lines: Uint8Array, writing: Uint8Array): void {
    const { path } = this.#options;
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const isStored = this.#nextSize !== null && size >= this.#nextSize;
    appendAtExit(path, isStored ? lines : Buffer.concat([writing, lines]));
  }

  async close(): Promise<void> {
    const stream = this.#stream;
    if (stream === null || stream.destroyed) return;
    await new Promise<void>((resolve) => {
      stream.once('error', () => resolve());
      stream.end(() => resolve());
    });
  }

  #open(): RotatingFileStream {
    const { path, maxSize, interval, maxFiles } = this.#options;
    const stream = createStream(path, {
      mode: modes.file,
      size: `${maxSize}B`,
      rotate: maxFiles,
      ...(interval === null ? {} : { interval: interval === 'day' ? '1d' : '1h' }),
    });
    // Without a listener, an error between two writes would end the process.
    stream.on('error', () => undefined);
    return stream;
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}

/** Returns whether the file has become an older one meanwhile. */
async function write(stream: RotatingFileStream, bytes: Buffer): Promise<boolean> {
  let isRotated = false;
  const onRotated = (): void => void (isRotated = true);
  stream.on('rotation', onRotated);
  try {
    await new Promise<void>((resolve, reject) => {
      stream.write(bytes, (error) => {
        if (error === null || error === undefined) resolve();
        // For a stream that has failed before, the cause.
        else reject(stream.errored ?? error);
      });
    });
  } finally {
    stream.off('rotation', onRotated);
  }
  return isRotated;
}
