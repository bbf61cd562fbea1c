import { boolean, nullable, oneOf, type OptionValidators, string } from '@pgway/core/internal';
import { type CommentHeader, commentHeader, GeneratorError } from '../generated-file.ts';
import { resolveOptions } from '../resolve-options.ts';

/** Options of `httpFile`, the generator of request files. */
export interface HttpFileOptions {
  /** Where requests are published: in files, at a path of the server, or both. */
  readonly option: 'file' | 'endpoint' | 'both';
  /** The name of a file without `.http`; `{0}` is replaced by the database, `{1}` by the schema. */
  readonly namePattern: string;
  /** The folder of the files; null: no files are written. */
  readonly folder: string | null;
  /** The replacement of `{0}`. */
  readonly databaseName: string;
  /** One file per database or per schema. */
  readonly fileMode: 'database' | 'schema';
  /** Overwrites an existing file with other content. */
  readonly fileOverwrite: boolean;
  /** The value of the variable `@host`. */
  readonly host: string;
  /** The comment of each request: none, the signature with its parameters, or the definition of the routine. */
  readonly commentHeader: CommentHeader;
  /** Includes the text of the routine comment. */
  readonly commentHeaderIncludeComments: boolean;
}

const validators: OptionValidators<HttpFileOptions> = {
  option: oneOf('file', 'endpoint', 'both'),
  namePattern: string,
  folder: nullable(string),
  databaseName: string,
  fileMode: oneOf('database', 'schema'),
  fileOverwrite: boolean,
  host: string,
  commentHeader,
  commentHeaderIncludeComments: boolean,
};

export const httpFileDefaults: HttpFileOptions = Object.freeze({
  option: 'file',
  namePattern: '{0}_{1}',
  folder: null,
  databaseName: 'database',
  fileMode: 'database',
  fileOverwrite: false,
  host: 'http://localhost:8080',
  commentHeader: 'simple',
  commentHeaderIncludeComments: true,
});

/** @throws GeneratorError for invalid options */
export function httpFileOptions(partial: Partial<HttpFileOptions>): HttpFileOptions {
  const options = resolveOptions({ generator: 'httpFile', defaults: httpFileDefaults, validators }, partial);
  if (options.fileMode === 'schema' && !options.namePattern.includes('{1}')) {
    throw new GeneratorError(
      `httpFile.namePattern: ${JSON.stringify(options.namePattern)} has no {1} for the schema, which fileMode "schema" needs; add it`,
    );
  }
  return options;
}
