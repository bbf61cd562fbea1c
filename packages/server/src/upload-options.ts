import { defaultUploadHandlers, type UploadHandlerFactory, type UploadOptions } from '@pgway/core';
import type { Configuration } from './config/schema.ts';

/** Returns the options of uploads, with the handlers that the configuration lists. */
export async function uploadOptions({ uploadOptions: section }: Configuration): Promise<Partial<UploadOptions>> {
  const { uploadHandlers: names, defaultUploadHandler, defaultUploadHandlerOptions, ...options } = section;
  const available: Readonly<Record<string, UploadHandlerFactory>> = {
    ...defaultUploadHandlers(defaultUploadHandlerOptions),
    ...(names.includes('excel') && options.enabled ? { excel: await loadExcel() } : {}),
  };
  // The default of the schema may not be in the list, which matters to comments only that name no handler.
  const hasDefault = defaultUploadHandler !== 'large_object' || names.includes(defaultUploadHandler);
  return {
    ...options,
    ...(hasDefault ? { defaultUploadHandler } : {}),
    defaultUploadHandlerOptions,
    uploadHandlers: Object.fromEntries(
      names.flatMap((name) => (available[name] === undefined ? [] : [[name, available[name]]])),
    ),
  };
}

/** Imports the handler only when it is listed. */
async function loadExcel(): Promise<UploadHandlerFactory> {
  const { excelHandler } = await import('@pgway/excel');
  return () => excelHandler();
}
