import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { UploadOptionValue } from '../../src/endpoints/upload-option.ts';
import type { StoredUpload, UploadContext, UploadHandler } from '../../src/ports/upload-handler.ts';
import { commentOptions } from '../../src/uploads/comment-options.ts';
import { commonUploadOptions } from '../../src/uploads/options.ts';

export interface StoredFile {
  readonly fileName: string;
  readonly content?: Readable | string;
  readonly options?: Readonly<Record<string, UploadOptionValue>>;
  readonly templates?: Readonly<Record<string, string>>;
}

/** A request that stores files with one handler, and its end. */
export class UploadRequest {
  readonly #handler: UploadHandler;
  readonly #rollbacks: (() => void | Promise<void>)[] = [];
  readonly #commits: (() => void | Promise<void>)[] = [];
  readonly #controller = new AbortController();

  constructor(handler: UploadHandler) {
    this.#handler = handler;
  }

  store({ fileName, content = '', options = {}, templates = {} }: StoredFile): Promise<StoredUpload> {
    const definitions = { ...commentOptions(commonUploadOptions), ...this.#handler.options };
    const defaults = Object.entries(definitions).map(([name, definition]) => [name, definition.default]);
    const context = {
      options: { ...Object.fromEntries(defaults), ...options },
      templates,
      signal: this.#controller.signal,
      onRollback: (remove: () => Promise<void>) => this.#rollbacks.push(remove),
      onCommit: (finish: () => Promise<void>) => this.#commits.push(finish),
    } as unknown as UploadContext;
    const readable = typeof content === 'string' ? Readable.from([Buffer.from(content)]) : content;
    // As in a gateway, the content may fail before the handler reads it.
    readable.on('error', () => undefined);
    const file = { fileName, contentType: 'application/octet-stream', fieldName: 'file', content: readable };
    return this.#handler.store(file, context) as Promise<StoredUpload>;
  }

  abort(reason: Error): void {
    this.#controller.abort(reason);
  }

  async commit(): Promise<void> {
    for (const finish of this.#commits) await finish();
  }

  async rollback(): Promise<void> {
    for (const remove of this.#rollbacks.toReversed()) await remove();
  }
}

/** Returns a new folder, which is removed after the test. */
export async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pgway-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the files of a folder: the content by path, `null` for other entries. */
export function filesIn(folder: string, prefix = ''): Readonly<Record<string, string | null>> {
  // The recursion of `readdir` enters links since Node.js 24.
  const entries = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const [name, path] = [`${prefix}${entry.name}`, join(folder, entry.name)];
    const inner = entry.isDirectory() ? Object.entries(filesIn(path, `${name}/`)) : [];
    return [[name, entry.isFile() ? readFileSync(path, 'utf8') : null] as const, ...inner];
  });
  return Object.fromEntries(entries);
}

/** Returns the open files of this process in a folder. Empty where the system has no `/proc`. */
export function openFilesIn(folder: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(linkTarget)
    .filter((path) => path.startsWith(folder));
}

function linkTarget(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The descriptor of the listing itself is closed.
    return '';
  }
}
