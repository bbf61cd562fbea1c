import type { UploadHandlerFactory } from '../ports/upload-handler.ts';
import { csvHandler } from './csv.ts';
import { fileSystemHandler } from './file-system.ts';
import { largeObjectHandler } from './large-object.ts';
import type { DefaultUploadHandlerOptions } from './options.ts';

/** Returns the factories of the built-in handlers, by the names that comments use. A factory throws a RangeError for an invalid `rowCommand`. */
export function defaultUploadHandlers(
  options: Partial<DefaultUploadHandlerOptions> = {},
): Readonly<Record<string, UploadHandlerFactory>> {
  return {
    large_object: largeObjectHandler,
    file_system: () => fileSystemHandler(options.fileSystem),
    csv: () => csvHandler(options.csv),
  };
}
