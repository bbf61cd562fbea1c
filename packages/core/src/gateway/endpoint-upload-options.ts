import type { UploadHandler } from '../ports/upload-handler.ts';
import { commonUploadDefaults, commonUploadOptions } from '../uploads/common-options.ts';
import type { EndpointUploadOptions, UploadOptionDefinitions } from '../endpoints/upload-option.ts';
import type { UploadOptions } from './options/upload-options.ts';
import { OptionsError } from './start-error.ts';

/**
 * Returns what comments can say about uploads: the handlers and their options, or null without a handler.
 *
 * @param handlers the handlers that the factories made, by name
 * @throws StartError for an option of a handler with an invalid name
 */
export function endpointUploadOptions(
  handlers: Readonly<Record<string, UploadHandler>>,
  options: UploadOptions,
): EndpointUploadOptions | null {
  const names = Object.keys(handlers);
  if (!options.enabled || names.length === 0) return null;
  const given = Object.entries(options.defaultUploadHandlerOptions ?? {}).filter(([, value]) => value !== undefined);
  const common = commonUploadOptions({ ...commonUploadDefaults, ...Object.fromEntries(given) });
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
