import {
  arrayOf,
  boolean,
  jsonObject,
  nonEmptyString,
  nullable,
  oneOf,
  recordOf,
  string,
  option,
  optionGroup,
  type OptionGroup,
} from '@pgway/core/internal';
import { namingOptions } from '../naming.ts';
import { resolveOptions } from '../resolve-options.ts';
import type { OpenApiOptions } from './options.generated.ts';

export type { OpenApiOptions } from './options.generated.ts';

export const openApiOptions: OptionGroup<OpenApiOptions> = optionGroup<OpenApiOptions>(
  'OpenApiOptions',
  'Options of `openApi`, the generator of OpenAPI documents.',
  {
    filePath: option(
      nullable(nonEmptyString),
      null,
      'The file that `pgway generate` writes. Null: no file is written.',
    ),
    fileOverwrite: option(boolean, false, 'Overwrites an existing file with other content.'),
    specification: option(
      oneOf('3.1', '3.2'),
      '3.1',
      'The version of OpenAPI. With 3.2, the document has the method QUERY, which fewer tools know.',
    ),
    title: option(nonEmptyString, 'API', 'The title of the API.'),
    version: option(nonEmptyString, '1', 'The version of the API.'),
    description: option(nullable(nonEmptyString), null, 'The description of the API, in Markdown.'),
    license: option(nullable(nonEmptyString), null, 'The licence of the API as an SPDX expression, as in `MIT`.'),
    servers: option(arrayOf(string), [], 'Base URLs of the API; empty: the host that served the document.'),
    securitySchemes: option(
      recordOf(jsonObject),
      { bearer: { type: 'http', scheme: 'bearer' } },
      'Security Scheme Objects by name, for endpoints that require an authenticated caller.',
    ),
    batchPath: option(nullable(string), null, 'The path of batches; null: the document has none.'),
    ...namingOptions,
  },
);

/** @throws GeneratorError for invalid options */
export function resolveOpenApiOptions(partial: Partial<OpenApiOptions>): OpenApiOptions {
  return resolveOptions('openApi', openApiOptions, partial);
}
