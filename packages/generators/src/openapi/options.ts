import {
  arrayOf,
  boolean,
  nullable,
  objectWithMethods,
  type OptionValidators,
  recordOf,
  string,
} from '@pgway/core/internal';
import { namingValidators, type NamingOptions } from '../naming.ts';
import { resolveOptions } from '../resolve-options.ts';

/** Options of `openApi`, the generator of OpenAPI documents. */
export interface OpenApiOptions extends NamingOptions {
  /** The file to write; null: no file. */
  readonly filePath: string | null;
  /** Overwrites an existing file with other content. */
  readonly fileOverwrite: boolean;
  readonly title: string;
  /** The version of the API, not of OpenAPI. */
  readonly version: string;
  readonly description: string | null;
  /** The licence of the API as an SPDX expression, as in `MIT`. */
  readonly license: string | null;
  /** Base URLs of the API; empty: the host that served the document. */
  readonly servers: readonly string[];
  /** Security Scheme Objects by name, for endpoints that require an authenticated caller. */
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  /** The path of batches; null: the document has none. */
  readonly batchPath: string | null;
}

const validators: OptionValidators<OpenApiOptions> = {
  filePath: nullable(string),
  fileOverwrite: boolean,
  title: string,
  version: string,
  description: nullable(string),
  license: nullable(string),
  servers: arrayOf(string),
  securitySchemes: recordOf(objectWithMethods<unknown>()),
  batchPath: nullable(string),
  ...namingValidators,
};

export const openApiDefaults: OpenApiOptions = Object.freeze({
  filePath: null,
  fileOverwrite: false,
  title: 'API',
  version: '1',
  description: null,
  license: null,
  servers: [],
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  useRoutineNameInsteadOfEndpoint: false,
  batchPath: null,
  urlPathPrefix: '/api',
});

/** @throws GeneratorError for invalid options */
export function openApiOptions(partial: Partial<OpenApiOptions>): OpenApiOptions {
  return resolveOptions({ generator: 'openApi', defaults: openApiDefaults, validators }, partial);
}
