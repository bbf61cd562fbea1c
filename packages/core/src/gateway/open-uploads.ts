import type { EndpointUploadOptions } from '../endpoints/upload-option.ts';
import type { UploadHandler } from '../ports/upload-handler.ts';
import type { AvailableHandler } from '../request/upload/compile-upload.ts';
import type { UploadExecution } from '../request/upload/execute-upload.ts';
import { defaultUploadHandlers } from '../uploads/default-handlers.ts';
import { UploadSlots } from '../uploads/upload-slots.ts';
import { endpointUploadOptions } from './endpoint-upload-options.ts';
import type { ResolvedOptions } from './options/options.ts';
import { OptionsError } from './start-error.ts';

/** The upload handlers of a gateway. Refreshes keep them. */
export interface Uploads {
  /** What comments can say about uploads; null: uploads are disabled. */
  readonly endpointOptions: EndpointUploadOptions | null;
  /** The handlers that endpoints can name. */
  readonly handlers: ReadonlyMap<string, AvailableHandler>;
  readonly execution: UploadExecution;
}

/** Makes the upload handlers. @throws StartError that names the handler, for any error of its factory */
export function openUploads({ uploadOptions, slowClientTimeout }: ResolvedOptions): Uploads {
  const { uploadHandlers, defaultUploadHandlerOptions } = uploadOptions;
  const factories =
    uploadHandlers ?? (defaultUploadHandlerOptions === null ? {} : defaultUploadHandlers(defaultUploadHandlerOptions));
  const made = Object.entries(factories).map(([name, make]) => [name, makeHandler(name, make)] as const);
  const endpointOptions = endpointUploadOptions(Object.fromEntries(made), uploadOptions);
  const { maxUploadConnections, uploadQueueTimeout, useDefaultUploadMetadataContextKey } = uploadOptions;
  return {
    endpointOptions,
    handlers: new Map(
      endpointOptions === null
        ? []
        : made.map(([name, handler]) => [name, { handler, definitions: endpointOptions.handlers[name]! }]),
    ),
    execution: {
      limits: { ...uploadOptions, maxSenderDelay: slowClientTimeout * 1_000 },
      slots: new UploadSlots(maxUploadConnections, uploadQueueTimeout * 1_000),
      metadataSetting: useDefaultUploadMetadataContextKey ? uploadOptions.defaultUploadMetadataContextKey : null,
      logsFiles: uploadOptions.logUploadEvent,
    },
  };
}

function makeHandler(name: string, make: () => UploadHandler): UploadHandler {
  try {
    const handler = make();
    if (typeof (handler as Partial<UploadHandler> | undefined)?.store === 'function') return handler;
    throw new TypeError('the factory must return an object with a function "store"');
  } catch (error) {
    throw new OptionsError(`uploadOptions.uploadHandlers["${name}"]: ${(error as Error).message}`, { cause: error });
  }
}
