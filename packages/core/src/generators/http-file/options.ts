import { type CommentHeader, commentHeaders, GeneratorError } from '../generated-file.ts';
import { resolveOptions, requireChoice } from '../resolve-options.ts';

export interface HttpFileOptions {
  /** Where requests go: into files, to whoever serves them at a path, or both. */
  readonly option: 'file' | 'endpoint' | 'both';
  /** The name of a file; `{0}` is the database, `{1}` the schema. `.http` is put behind it. */
  readonly namePattern: string;
  /** The folder of the files; null: none are written. */
  readonly folder: string | null;
  /** What `{0}` stands for. */
  readonly databaseName: string;
  /** One file for everything, or one a schema. */
  readonly fileMode: 'database' | 'schema';
  readonly fileOverwrite: boolean;
  /** The value of `@host`. */
  readonly host: string;
  /** Above requests: nothing; the signature with its parameters; or the whole definition of the routine. */
  readonly commentHeader: CommentHeader;
  /** With the prose of the routine's comment. */
  readonly commentHeaderIncludeComments: boolean;
}

const generator = 'httpFile';

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

/** @throws GeneratorError that names the option which cannot be */
export function httpFileOptions(given: Partial<HttpFileOptions>): HttpFileOptions {
  const options = resolveOptions(generator, httpFileDefaults, given);
  requireChoice(generator, 'option', options.option, ['file', 'endpoint', 'both']);
  requireChoice(generator, 'fileMode', options.fileMode, ['database', 'schema']);
  requireChoice(generator, 'commentHeader', options.commentHeader, commentHeaders);
  if (options.fileMode === 'schema' && !options.namePattern.includes('{1}')) {
    throw new GeneratorError(`${generator}: with fileMode schema, namePattern needs {1} for the schema`);
  }
  return options;
}
