import { crc32 } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { MalformedWorkbook, type WorkbookUsage } from './limits.ts';

/** Entries of an archive beyond which it is not a workbook: Excel itself writes some per sheet, picture and chart. */
const maxEntries = 10_000;
const longestName = 255;

/** The parts of a workbook: entries of a ZIP archive that are XML. Names are keys only, never paths. */
export class WorkbookArchive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #usage: WorkbookUsage;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, usage: WorkbookUsage) {
    this.#zip = zip;
    this.#entries = entries;
    this.#usage = usage;
  }

  /** @throws MalformedWorkbook if the file is no ZIP archive */
  static async open(fd: number, usage: WorkbookUsage): Promise<WorkbookArchive> {
    try {
      const zip = await fromFdPromise(fd, { lazyEntries: true, autoClose: false, strictFileNames: true });
      if (zip.entryCount > maxEntries) throw new MalformedWorkbook(`has more than ${maxEntries} entries`);
      return new WorkbookArchive(zip, await readEntries(zip), usage);
    } catch (error) {
      throw asMalformed(error, 'is no ZIP archive');
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /**
   * Reads a part. Its size is counted as it is uncompressed, whatever the archive says.
   * @throws MalformedWorkbook if the part is missing or damaged, Problem past a limit
   */
  async *read(name: string): AsyncIterable<Uint8Array> {
    const entry = this.#entries.get(name.toLowerCase());
    if (entry === undefined) throw new MalformedWorkbook(`has no part ${name}`);
    let checksum = 0;
    for await (const chunk of await this.#open(entry)) {
      this.#usage.add('maxInflatedSize', chunk.length);
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
    if (checksum !== entry.crc32) throw new MalformedWorkbook(`has a wrong checksum in the part ${name}`);
  }

  async #open(entry: Entry): Promise<AsyncIterable<Buffer>> {
    try {
      const stream = await this.#zip.openReadStreamPromise(entry);
      return inflate(stream);
    } catch (error) {
      throw asMalformed(error, 'has a part that cannot be read');
    }
  }
}

async function* inflate(stream: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const chunks = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        throw asMalformed(error, 'has a damaged part');
      });
      if (done === true) return;
      yield value;
    }
  } finally {
    await chunks.return?.();
  }
}

async function readEntries(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName.toLowerCase();
    if (name.length > longestName || !/\.(?:xml|rels)$/.test(name)) continue;
    if (entries.has(name)) throw new MalformedWorkbook(`has several parts ${name}`);
    entries.set(name, entry);
  }
  return entries;
}

/** Errors of the file system are none of the file's. */
function asMalformed(error: unknown, fault: string): unknown {
  const isSystem = (error as NodeJS.ErrnoException).syscall !== undefined;
  return isSystem || error instanceof MalformedWorkbook ? error : new MalformedWorkbook(fault, { cause: error });
}
