import {
  boolean,
  nonEmptyString,
  nullable,
  oneOf,
  string,
  option,
  optionGroup,
  type OptionGroup,
} from '@pgway/core/internal';
import { commentHeader, GeneratorError } from '../generated-file.ts';
import { resolveOptions } from '../resolve-options.ts';
import type { HttpFileOptions } from './options.generated.ts';

export type { HttpFileOptions } from './options.generated.ts';

export const httpFileOptions: OptionGroup<HttpFileOptions> = optionGroup<HttpFileOptions>(
  'HttpFileOptions',
  'Options of `httpFile`, the generator of request files.',
  {
    option: option(
      oneOf('file', 'endpoint', 'both'),
      'file',
      '`file`: `pgway generate` writes them. `endpoint`: the server serves them at `path`. `both`: both.',
    ),
    namePattern: option(
      nonEmptyString,
      '{0}_{1}',
      'The name of a file, without `.http`; `{0}` is replaced by the database, `{1}` by the schema.',
    ),
    folder: option(nullable(nonEmptyString), null, 'The folder of the files. Null: no files are written.'),
    databaseName: option(string, 'database', 'The replacement of `{0}`.'),
    fileMode: option(oneOf('database', 'schema'), 'database', 'One file per database or per schema.'),
    fileOverwrite: option(boolean, false, 'Overwrites an existing file with other content.'),
    host: option(string, 'http://localhost:8080', 'The value of the variable `@host`.'),
    commentHeader: option(
      commentHeader,
      'simple',
      'The comment of each request: none, the signature with its parameters, or the whole definition of the routine.',
    ),
    commentHeaderIncludeComments: option(
      boolean,
      true,
      'Includes the text of the routine comment in the comment of the request.',
    ),
  },
);

/** @throws GeneratorError for invalid options */
export function resolveHttpFileOptions(partial: Partial<HttpFileOptions>): HttpFileOptions {
  const options = resolveOptions('httpFile', httpFileOptions, partial);
  if (options.fileMode === 'schema' && !options.namePattern.includes('{1}')) {
    throw new GeneratorError(
      `httpFile.namePattern: ${JSON.stringify(options.namePattern)} has no {1} for the schema, which fileMode "schema" needs; add it`,
    );
  }
  return options;
}
