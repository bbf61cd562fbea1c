import { defaultUploadHandlers, type UploadHandlerFactory, type UploadOptions } from '@pgway/core';
import type { Configuration } from './config/schema.ts';

/** Returns the options of uploads, with the handlers that the configuration lists. */
export function uploadOptions({ uploadOptions: section }: Configuration): UploadOptions {
  const { uploadHandlers: names, defaultUploadHandlerOptions: handlerOptions, ...options } = section;
  const available: Readonly<Record<string, UploadHandlerFactory>> = defaultUploadHandlers(handlerOptions);
  return {
    ...options,
    defaultUploadHandlerOptions: handlerOptions,
    uploadHandlers: Object.fromEntries(names.map((name) => [name, available[name]!])),
  };
}
