import type { EndpointUploadOptions, UploadOptionDefinitions } from '../endpoints/upload-option.ts';
import type { UploadHandler } from '../ports/upload-handler.ts';
import type { AvailableHandler } from '../request/upload/compile-upload.ts';
import type { UploadExecution } from '../request/upload/execute-upload.ts';
import { commentOptions } from '../uploads/comment-options.ts';
import { commonUploadOptions } from '../uploads/options.ts';
import { defaultUploadHandlers } from '../uploads/default-handlers.ts';
import { UploadSlots } from '../uploads/upload-slots.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { UploadOptions } from './options/upload-options.ts';
import { OptionsError } from './start-error.ts';

/** The upload handlers of a gateway. Refreshes keep them. */
export interface Uploads {
  /** The handlers and options that comments can name; null: uploads are disabled. */
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
      tenant: null,
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

/**
 * Returns the handlers and options that comments can name, or null without a handler.
 *
 * @param handlers the handlers that the factories made, by name
 * @throws StartError for an option of a handler with an invalid name
 */
function endpointUploadOptions(
  handlers: Readonly<Record<string, UploadHandler>>,
  options: UploadOptions,
): EndpointUploadOptions | null {
  const names = Object.keys(handlers);
  if (!options.enabled || names.length === 0) return null;
  const common = commentOptions(commonUploadOptions, options.defaultUploadHandlerOptions ?? {});
  return {
    handlers: Object.fromEntries(
      names.map((name) => [name, { ...common, ...checkNames(name, handlers[name]!.options ?? {}) }]),
    ),
    defaultHandler: options.defaultUploadHandler,
    metadataParameterName: options.useDefaultUploadMetadataParameter
      ? options.defaultUploadMetadataParameterName
      : null,
  };
}

function checkNames(handler: string, definitions: UploadOptionDefinitions): UploadOptionDefinitions {
  const invalid = Object.keys(definitions).find((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name));
  if (invalid === undefined) return definitions;
  throw new OptionsError(
    `uploadOptions.uploadHandlers["${handler}"]: the option ${JSON.stringify(invalid)} of the handler must have a name in snake case, such as check_text`,
  );
}
