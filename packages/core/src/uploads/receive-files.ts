import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Problem } from '../http/problem.ts';
import type { StoredUpload, UploadContext, UploadFile, UploadHandler, UploadStatus } from '../ports/upload-handler.ts';
import { checkFile, type FileHead, needsMoreBytes } from './checks.ts';
import type { FormFile } from './multipart.ts';
import { isStorageFull } from './storage-error.ts';

/** A handler of an endpoint, with the context of one request. */
export interface RequestHandler {
  readonly name: string;
  readonly handler: UploadHandler;
  readonly context: UploadContext;
}

/** A file as its handlers have processed it. */
export interface ReceivedFile {
  readonly fileName: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** For each handler, in order: the parts that it has stored, at least one. */
  readonly results: readonly (readonly StoredUpload[])[];
}

/** Passes a file to its handlers while it arrives, and returns their results. */
export async function receiveFile(file: FormFile, handlers: readonly RequestHandler[]): Promise<ReceivedFile> {
  const reading = new FileReading(file);
  const statuses = await checkHead(reading, handlers);
  const stops = handlers.some(({ context }) => context.options['stop_after_first_success'] === true);
  const results = stops
    ? await storeUntilSuccess(reading, handlers, statuses)
    : await storeInAll(reading, handlers, statuses);
  const { fileName, contentType } = file;
  return { fileName, contentType, size: await reading.drain(), results };
}

/** Returns the metadata of the files as JSON: all files of the first handler, then those of the next one. */
export function uploadMetadata(
  files: readonly ReceivedFile[],
  handlers: readonly Pick<RequestHandler, 'name'>[],
): string {
  const objects = handlers.flatMap(({ name }, index) =>
    files.flatMap((file) => file.results[index]!.map((result) => toJson(name, file, result))),
  );
  return `[${objects.join(',')}]`;
}

function toJson(type: string, { fileName, contentType, size }: ReceivedFile, result: StoredUpload): string {
  const { status, members = {}, lastMembers = {} } = result;
  const first = JSON.stringify({ type, fileName, contentType, size, ...members, success: status === 'Ok', status });
  const last = Object.entries(lastMembers).map(([name, json]) => `,${JSON.stringify(name)}:${json}`);
  return `${first.slice(0, -1)}${last.join('')}}`;
}

async function checkHead(reading: FileReading, handlers: readonly RequestHandler[]): Promise<readonly UploadStatus[]> {
  const needsMore = (head: FileHead): boolean =>
    handlers.some(({ handler, context }) => needsMoreBytes(handler, context.options, head));
  const head = await reading.readHead(needsMore);
  return handlers.map(({ handler, context }) => checkFile(handler, context.options, head));
}

function refuse({ handler }: RequestHandler, status: UploadStatus): readonly StoredUpload[] {
  return [{ ...handler.refusedMembers, status }];
}

async function store({ handler, context }: RequestHandler, file: UploadFile): Promise<readonly StoredUpload[]> {
  const stored = await handler.store(file, context);
  return 'status' in stored ? [stored] : stored;
}

/** Passes each chunk to all handlers that take the file. The slowest one determines the pace. */
async function storeInAll(
  reading: FileReading,
  handlers: readonly RequestHandler[],
  statuses: readonly UploadStatus[],
): Promise<readonly (readonly StoredUpload[])[]> {
  const streams: PassThrough[] = [];
  const results = handlers.map((each, index) => {
    const status = statuses[index]!;
    if (status !== 'Ok') return Promise.resolve(refuse(each, status));
    const stream = new PassThrough({ highWaterMark: streamBuffer });
    streams.push(stream);
    return storeAndClose(each, reading.toFile(stream), stream);
  });
  const stored = Promise.all(results);
  stored.catch((error: Error) => reading.destroy(error));
  try {
    await reading.copyTo(streams);
    return await stored;
  } catch (error) {
    for (const stream of streams) stream.destroy(error as Error);
    await Promise.allSettled(results);
    throw error;
  }
}

/** Closes the stream when the handler needs no more of the file. */
async function storeAndClose(
  handler: RequestHandler,
  file: UploadFile,
  stream: PassThrough,
): Promise<readonly StoredUpload[]> {
  try {
    return await store(handler, file);
  } finally {
    stream.destroy();
  }
}

/** Tries one handler after the other. Those behind the first success ignore the file. */
async function storeUntilSuccess(
  reading: FileReading,
  handlers: readonly RequestHandler[],
  statuses: readonly UploadStatus[],
): Promise<readonly (readonly StoredUpload[])[]> {
  const results: (readonly StoredUpload[])[] = [];
  let copy: TemporaryCopy | null = null;
  let succeeded = false;
  try {
    for (const [index, each] of handlers.entries()) {
      const status: UploadStatus = succeeded ? 'Ignored' : statuses[index]!;
      if (status !== 'Ok') {
        results.push(refuse(each, status));
        continue;
      }
      // A later handler reads the file again.
      const mayContinue = each.handler.mayRefuse === true && index < handlers.length - 1;
      // In order: a handler runs only when those before it have refused the file.
      if (mayContinue) copy ??= await TemporaryCopy.create(reading);
      const stored = copy === null ? await storeInAll(reading, [each], ['Ok']) : [await copy.store(each, reading)];
      results.push(...stored);
      succeeded = stored.flat().some((result) => result.status === 'Ok');
    }
  } finally {
    await copy?.remove();
  }
  return results;
}

/** A file on disk for handlers that read it one after the other. */
class TemporaryCopy {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(reading: FileReading): Promise<TemporaryCopy> {
    const copy = new TemporaryCopy(await mkdtemp(join(tmpdir(), 'pgway-upload-')));
    const stream = new PassThrough({ highWaterMark: streamBuffer });
    const written = pipeline(stream, createWriteStream(copy.#path, { flags: 'wx', mode: 0o600 }));
    written.catch((error: Error) => reading.destroy(error));
    try {
      await reading.copyTo([stream]);
      await written;
      return copy;
    } catch (error) {
      stream.destroy();
      await written.catch(() => undefined);
      await copy.remove();
      throw isStorageFull(error)
        ? new Problem('insufficient-storage', {
            detail: `The temporary folder has no space for "${reading.fileName}".`,
            cause: error,
          })
        : error;
    }
  }

  get #path(): string {
    return join(this.#folder, 'content');
  }

  async store(handler: RequestHandler, reading: FileReading): Promise<readonly StoredUpload[]> {
    const content = createReadStream(this.#path, { highWaterMark: streamBuffer });
    try {
      return await store(handler, reading.toFile(content));
    } finally {
      content.destroy();
    }
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }
}

/** Bytes that a stream of a handler may hold. */
const streamBuffer = 256 * 1024;

/** The reading of one file: its first bytes for the checks, and then the rest. */
class FileReading {
  readonly #file: FormFile;
  readonly #chunks: AsyncIterator<Buffer>;
  /** The bytes that the checks have read. */
  #head: Buffer = Buffer.alloc(0);
  #size = 0;
  #isComplete = false;

  constructor(file: FormFile) {
    this.#file = file;
    this.#chunks = file.content[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  get fileName(): string {
    return this.#file.fileName;
  }

  toFile(content: Readable): UploadFile {
    const { fileName, contentType, fieldName } = this.#file;
    // The content may fail before the handler reads it.
    content.on('error', () => undefined);
    return { fileName, contentType, fieldName, content };
  }

  /** Reads until the checks have enough bytes. */
  async readHead(needsMore: (head: FileHead) => boolean): Promise<FileHead> {
    const { contentType } = this.#file;
    let head: FileHead = { contentType, bytes: this.#head, isWhole: false };
    while (needsMore(head)) {
      await this.#doubleHead();
      head = { contentType, bytes: this.#head, isWhole: this.#isComplete };
    }
    return head;
  }

  /** Reads at least as many bytes as before: joining and checking them after each small chunk would take quadratic time. */
  async #doubleHead(): Promise<void> {
    const chunks = [this.#head];
    const size = Math.max(1, 2 * this.#head.length);
    while (this.#size < size && !this.#isComplete) {
      const chunk = await this.#next();
      if (chunk !== null) chunks.push(chunk);
    }
    this.#head = Buffer.concat(chunks);
  }

  /** Writes the whole file to the streams that are not closed, and ends them. */
  async copyTo(streams: readonly PassThrough[]): Promise<void> {
    const head = this.#head;
    this.#head = Buffer.alloc(0);
    if (head.length > 0) await writeToAll(streams, head);
    // Each chunk waits for the streams.
    for (let chunk = await this.#next(); chunk !== null; chunk = await this.#next()) await writeToAll(streams, chunk);
    for (const stream of streams) stream.end();
  }

  /** Discards what no handler has read. Returns the size of the file. */
  async drain(): Promise<number> {
    while (!this.#isComplete) await this.#next();
    return this.#size;
  }

  destroy(error: Error): void {
    this.#file.content.destroy(error);
  }

  async #next(): Promise<Buffer | null> {
    if (this.#isComplete) return null;
    const { done, value } = await this.#chunks.next();
    this.#isComplete = done === true;
    if (done === true) return null;
    this.#size += value.length;
    return value;
  }
}

async function writeToAll(streams: readonly PassThrough[], chunk: Buffer): Promise<void> {
  for (const stream of streams) {
    if (stream.destroyed || stream.write(chunk)) continue;
    await writable(stream);
  }
}

/** Waits until the stream takes more, or is closed. */
function writable(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}
