import type { UploadHandlerFactory } from '../ports/upload-handler.ts';
import type { CommonUploadOptions } from './common-options.ts';
import { csvHandler, type CsvUploadOptions } from './csv.ts';
import { fileSystemHandler, type FileSystemUploadOptions } from './file-system.ts';
import { largeObjectHandler } from './large-object.ts';

/** The options of the built-in handlers: those that every handler has, and a section for those of each handler. */
export interface DefaultUploadHandlerOptions extends CommonUploadOptions {
  /** Options of the handler `file_system`. */
  readonly fileSystem: Partial<FileSystemUploadOptions>;
  /** Options of the handler `csv`. */
  readonly csv: Partial<CsvUploadOptions>;
}

/** Returns the factories of the built-in handlers, by the names that comments use. */
export function defaultUploadHandlers(
  options: Partial<DefaultUploadHandlerOptions> = {},
): Readonly<Record<string, UploadHandlerFactory>> {
  return {
    large_object: largeObjectHandler,
    file_system: () => fileSystemHandler(options.fileSystem),
    csv: () => csvHandler(options.csv),
  };
}
