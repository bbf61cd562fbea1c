import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Busboy } from '@fastify/busboy';
import { Problem } from '../http/problem.ts';
import { headerLimits, PartCheck } from './part-check.ts';

/** The limits of a form. Sizes in bytes. */
export interface FormLimits {
  readonly maxFileSize: number;
  /** Of the whole body. */
  readonly maxTotalSize: number;
  readonly maxFiles: number;
  /** Files and fields together. */
  readonly maxParts: number;
  /** Bytes per second; 0: no minimum. */
  readonly minUploadRate: number;
  /** Milliseconds that a sender may be behind the minimum rate. */
  readonly maxSenderDelay: number;
}

/** A file of the form, whose content has to be read before the next file arrives. */
export interface FormFile {
  readonly fieldName: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly content: Readable;
}

export interface FormReader {
  readonly contentType: string;
  readonly limits: FormLimits;
  /** Ends the form. Aborted by the first failure of the form, so that its reader stops too. */
  readonly abort: AbortController;
  /** Called for each file, one after the other. A rejection ends the form. */
  readonly onFile: (file: FormFile) => Promise<void>;
  /** Called for each field that is not a file. May throw a Problem. */
  readonly onField: (name: string) => void;
}

/** Fields are not used: their values are not needed. */
const maxFieldSize = 64 * 1024;

/** Returns whether a media type is that of a form with files. */
export function isMultipart(contentType: string | undefined): contentType is string {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType?.trim() ?? '');
}

/**
 * Reads a form (RFC 7578) as it arrives. Nothing is buffered beyond a chunk: the reader of a file slows down its sender.
 * @throws Problem 400 for a malformed form, 408 for a slow sender, 413 past a limit; the errors of `onFile` and `body`
 */
export async function readForm(body: AsyncIterable<Uint8Array>, reader: FormReader): Promise<void> {
  const parts = new PartCheck();
  const form = new Form(reader, await createParser(reader, parts), parts);
  const chunks = body[Symbol.asyncIterator]();
  const pace = new SenderPace(reader.limits);
  try {
    let size = 0;
    for (;;) {
      // Each chunk is processed before the next one is read.
      const chunk = await form.orFailure(pace.wait(chunks.next()));
      if (chunk.done === true) break;
      size += chunk.value.length;
      if (size > reader.limits.maxTotalSize)
        throw tooLarge(`The limit of the whole form is ${reader.limits.maxTotalSize} bytes.`);
      await form.orFailure(form.write(chunk.value));
    }
    await form.orFailure(form.end());
  } catch (error) {
    form.fail(error as Error);
    // Leaves the rest of the body unread. Not awaited: it would wait for a chunk that the sender may never send.
    chunks.return?.().catch(() => undefined);
    await form.filesEnded();
    throw form.failure;
  }
}

function tooLarge(detail: string): Problem {
  return new Problem('body-too-large', { detail });
}

/** The parser of one form, and the first error of the parser or of a file. */
class Form {
  readonly #reader: FormReader;
  readonly #parser: InstanceType<typeof Busboy>;
  readonly #parts: PartCheck;
  #failure: Error | null = null;
  /** Rejects the step that is awaited. */
  #rejectStep: (error: Error) => void = () => undefined;
  /** The files that were announced and not read to the end. */
  readonly #open = new Set<Readable>();
  /** Completes when the files so far were processed. */
  #files: Promise<void> = Promise.resolve();

  constructor(reader: FormReader, parser: InstanceType<typeof Busboy>, parts: PartCheck) {
    this.#reader = reader;
    this.#parts = parts;
    this.#parser = parser;
    const { limits, onField, abort } = reader;
    abort.signal.addEventListener('abort', () => this.fail(abort.signal.reason as Error), { once: true });
    this.#parser
      .on('file', (fieldName, content, fileName, ...[, contentType]) =>
        this.#addFile({ fieldName: fieldName ?? '', fileName, contentType, content }),
      )
      .on('field', (name) => this.#guard(() => onField(name)))
      .on('filesLimit', () => this.fail(tooLarge(`The form has more than ${limits.maxFiles} files.`)))
      .on('partsLimit', () => this.fail(tooLarge(`The form has more than ${limits.maxParts} files and fields.`)))
      .on('fieldsLimit', () => this.fail(tooLarge(`The form has more than ${limits.maxParts} files and fields.`)))
      .on('error', (error) => this.fail(malformed(error as Error)));
    parts.observe(parser, (error) => this.fail(malformed(error)));
    if (abort.signal.aborted) this.fail(abort.signal.reason as Error);
  }

  get failure(): Error {
    return this.#failure!;
  }

  /** Resolves as the step does, or rejects with the first failure of the form. */
  orFailure<Result>(step: Promise<Result>): Promise<Result> {
    // Not `Promise.race` with one promise for all steps: it would retain a reaction for each of them.
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) reject(this.#failure);
      this.#rejectStep = reject;
      step.then(resolve, reject);
    });
  }

  write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#parser.write(chunk, () => resolve());
    });
  }

  async end(): Promise<void> {
    const finished = once(this.#parser, 'finish');
    this.#parser.end();
    await finished;
    const fault = this.#parts.findFault();
    if (fault !== null) this.fail(malformed(fault));
    await this.#files;
  }

  fail(error: Error): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    this.#reader.abort.abort(error);
    for (const content of this.#open) content.destroy(error);
    this.#rejectStep(error);
  }

  /** Waits until the readers of the files have ended. */
  filesEnded(): Promise<void> {
    return this.#files.catch(() => undefined);
  }

  #addFile(file: FormFile): void {
    const { content } = file;
    // A part without a file: the field of a page in which no file was chosen.
    if (file.fileName === '' || this.#failure !== null) {
      content.on('error', () => undefined);
      content.resume();
      return;
    }
    this.#open.add(content);
    content.once('close', () => this.#open.delete(content));
    content.once('limit', () => {
      const name = JSON.stringify(file.fileName);
      this.fail(tooLarge(`The file ${name} is larger than the limit of ${this.#reader.limits.maxFileSize} bytes.`));
    });
    // The parser reports an incomplete file before the reader of the file has attached its listeners.
    content.on('error', () => undefined);
    this.#files = this.#files.then(() => (this.#failure === null ? this.#reader.onFile(file) : undefined));
    this.#files.catch((error: Error) => this.fail(error));
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.fail(error as Error);
    }
  }
}

function malformed(error: Error): Problem {
  return new Problem('malformed-body', { detail: `The form is not valid: ${error.message}.`, cause: error });
}

/** @throws Problem 400 for a content type without a boundary */
async function createParser(
  { contentType, limits }: FormReader,
  parts: PartCheck,
): Promise<InstanceType<typeof Busboy>> {
  // Imported by the first upload.
  const { Busboy: Parser } = await import('@fastify/busboy');
  try {
    return new Parser({
      headers: { 'content-type': contentType },
      limits: {
        fileSize: limits.maxFileSize,
        files: limits.maxFiles,
        parts: limits.maxParts,
        fields: limits.maxParts,
        fieldSize: maxFieldSize,
        ...headerLimits,
      },
      isPartAFile: (_field, _type, fileName) => {
        parts.accept();
        return fileName !== undefined;
      },
    });
  } catch (error) {
    throw malformed(error as Error);
  }
}

/**
 * Ends a form whose sender is slower than the minimum rate. A sender may be behind by some time, which faster periods fill up again. Time
 * in which the gateway does not read does not count.
 */
class SenderPace {
  readonly #limits: FormLimits;
  /** Milliseconds that the sender may still be waited for. */
  #credit: number;

  constructor(limits: FormLimits) {
    this.#limits = limits;
    this.#credit = limits.maxSenderDelay;
  }

  /** @throws Problem 408 */
  async wait(next: Promise<IteratorResult<Uint8Array>>): Promise<IteratorResult<Uint8Array>> {
    const { minUploadRate, maxSenderDelay } = this.#limits;
    if (minUploadRate === 0) return next;
    const start = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const detail = `The upload is slower than ${minUploadRate} bytes per second.`;
      timer = setTimeout(() => reject(new Problem('upload-too-slow', { detail })), this.#credit);
    });
    try {
      const chunk = await Promise.race([next, late]);
      const earned = chunk.done === true ? 0 : (chunk.value.length * 1_000) / minUploadRate;
      this.#credit = Math.min(maxSenderDelay, Math.max(0, this.#credit - (performance.now() - start)) + earned);
      return chunk;
    } finally {
      clearTimeout(timer);
    }
  }
}
