import { resolveOptions } from '../resolve-options.ts';
import type { NamingOptions } from '../naming.ts';

export interface OpenApiOptions extends NamingOptions {
  /** The file to write; null: none. */
  readonly filePath: string | null;
  /** Writes over a file that is another one. */
  readonly fileOverwrite: boolean;
  readonly title: string;
  /** The version of the API, not of OpenAPI. */
  readonly version: string;
  readonly description: string | null;
  /** The licence of the API as an SPDX expression, as in `MIT`. */
  readonly license: string | null;
  /** Where the API is; empty: where the document comes from. */
  readonly servers: readonly string[];
  /** How callers sign in, by names, as OpenAPI has it: what endpoints that want a signed-in caller refer to. */
  readonly securitySchemes: Readonly<Record<string, unknown>>;
}

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
  urlPathPrefix: '/api',
});

/** @throws GeneratorError that names the option which cannot be */
export function openApiOptions(given: Partial<OpenApiOptions>): OpenApiOptions {
  return resolveOptions('openApi', openApiDefaults, given);
}
