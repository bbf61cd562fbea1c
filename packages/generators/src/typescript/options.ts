import { arrayOf, boolean, nullable, type OptionValidators, recordOf, string } from '@pgway/core/internal';
import { type CommentHeader, commentHeader, GeneratorError } from '../generated-file.ts';
import { type NamingOptions, namingValidators } from '../naming.ts';
import { resolveOptions } from '../resolve-options.ts';

/** Options of `typescriptClient`, the generator of typed clients. */
export interface TypescriptClientOptions extends NamingOptions {
  /** The file to write; with `bySchema`, `{0}` is replaced by the schema in Pascal case. Null: no file. */
  readonly filePath: string | null;
  /** Overwrites an existing file with other content. */
  readonly fileOverwrite: boolean;
  /** URLs begin with `host`. */
  readonly includeHost: boolean;
  /** The URL of the server, as in `http://localhost:8080`, for `includeHost`. */
  readonly host: string | null;
  /** The start of all URLs, whatever `includeHost` says. */
  readonly customHost: string | null;
  /** The comment of each function: none, signature, parameters and result, or the definition of the routine. */
  readonly commentHeader: CommentHeader;
  /** Includes the text of the routine comment. */
  readonly commentHeaderIncludeComments: boolean;
  /** Functions return `{ status, headers, response, problem }` instead of the response alone. */
  readonly includeStatusCode: boolean;
  /** Writes one file per schema. */
  readonly bySchema: boolean;
  /** Writes types to a separate file, `<name>Types.d.ts`. */
  readonly createSeparateTypeFile: boolean;
  /** Lines at the top of each file; `{0}` is replaced by the time. */
  readonly headerLines: readonly string[];
  /** The module that exports `baseUrl`; null: a constant in the file. */
  readonly importBaseUrlFrom: string | null;
  /** The module that exports `parseQuery`; null: a function in the file. */
  readonly importParseQueryFrom: string | null;
  /** Functions take a callback `parseUrl` that can change the URL. */
  readonly includeParseUrlParam: boolean;
  /** Functions take a callback `parseRequest` that can change the arguments of `fetch`. */
  readonly includeParseRequestParam: boolean;
  /** Routines to leave out, by name without schema. */
  readonly skipRoutineNames: readonly string[];
  /** Functions to leave out, by name. */
  readonly skipFunctionNames: readonly string[];
  /** Endpoints to leave out, by path. */
  readonly skipPaths: readonly string[];
  /** Schemas whose routines are left out. */
  readonly skipSchemas: readonly string[];
  /** The TypeScript type of json and jsonb. */
  readonly defaultJsonType: string;
  /** Exports a `<name>Url` for each function. */
  readonly exportUrls: boolean;
  /** Writes plain JavaScript, to a file that ends with `.js` instead of `.ts`. */
  readonly skipTypes: boolean;
  /** Merges interfaces with the same members. */
  readonly uniqueModels: boolean;
  /** Exports functions that open the event streams of endpoints. Their result has the members of `EventSource`, and sends `customHeaders`. */
  readonly exportEventSources: boolean;
  /** Import statements to add, for example for `customHeaders` and `defaultJsonType`. */
  readonly customImports: readonly string[];
  /** Headers of every request, by name; each value is a JavaScript expression such as `"1"` or `token()`. */
  readonly customHeaders: Readonly<Record<string, string>>;
  /** The header that carries the `xsrfToken` of a call, for methods that change data. */
  readonly xsrfTokenHeaderName: string | null;
  /** Values of the type `bigint` that JSON has as strings (`largeNumbers`) are `bigint`, not `string`. */
  readonly parseBigints: boolean;
  /** Reads include the earlier writes of the module, on read replicas too. Not with `bySchema`. */
  readonly readOwnWrites: boolean;
  /** The path of batches, for the functions `batch` and `reference`; null: without these functions. */
  readonly batchPath: string | null;
}

const validators: OptionValidators<TypescriptClientOptions> = {
  filePath: nullable(string),
  fileOverwrite: boolean,
  includeHost: boolean,
  host: nullable(string),
  customHost: nullable(string),
  commentHeader,
  commentHeaderIncludeComments: boolean,
  includeStatusCode: boolean,
  bySchema: boolean,
  createSeparateTypeFile: boolean,
  headerLines: arrayOf(string),
  importBaseUrlFrom: nullable(string),
  importParseQueryFrom: nullable(string),
  includeParseUrlParam: boolean,
  includeParseRequestParam: boolean,
  skipRoutineNames: arrayOf(string),
  skipFunctionNames: arrayOf(string),
  skipPaths: arrayOf(string),
  skipSchemas: arrayOf(string),
  defaultJsonType: string,
  exportUrls: boolean,
  skipTypes: boolean,
  uniqueModels: boolean,
  exportEventSources: boolean,
  customImports: arrayOf(string),
  customHeaders: recordOf(string),
  xsrfTokenHeaderName: nullable(string),
  parseBigints: boolean,
  readOwnWrites: boolean,
  batchPath: nullable(string),
  ...namingValidators,
};

export const typescriptClientDefaults: TypescriptClientOptions = Object.freeze({
  filePath: null,
  fileOverwrite: false,
  includeHost: false,
  host: null,
  customHost: null,
  commentHeader: 'simple',
  commentHeaderIncludeComments: true,
  includeStatusCode: false,
  bySchema: false,
  createSeparateTypeFile: true,
  headerLines: ['// autogenerated at {0}', '', ''],
  importBaseUrlFrom: null,
  importParseQueryFrom: null,
  includeParseUrlParam: false,
  includeParseRequestParam: false,
  skipRoutineNames: [],
  skipFunctionNames: [],
  skipPaths: [],
  skipSchemas: [],
  defaultJsonType: 'string',
  useRoutineNameInsteadOfEndpoint: false,
  exportUrls: false,
  skipTypes: false,
  uniqueModels: false,
  exportEventSources: true,
  customImports: [],
  customHeaders: {},
  xsrfTokenHeaderName: null,
  parseBigints: false,
  readOwnWrites: false,
  batchPath: null,
  urlPathPrefix: '/api',
});

/** @throws GeneratorError for invalid options */
export function typescriptClientOptions(partial: Partial<TypescriptClientOptions>): TypescriptClientOptions {
  const options = resolveOptions(
    { generator: 'typescriptClient', defaults: typescriptClientDefaults, validators },
    partial,
  );
  const { bySchema, filePath, includeHost, customHost, host, readOwnWrites, batchPath } = options;
  if (bySchema && filePath !== null && !filePath.includes('{0}')) {
    const example = JSON.stringify(filePath.replace(/(\.\w+)?$/, '{0}$1'));
    throw new GeneratorError(
      `typescriptClient.filePath: ${JSON.stringify(filePath)} has no {0} for the schema, which bySchema needs; add it, as in ${example}`,
    );
  }
  if (bySchema && readOwnWrites) {
    throw new GeneratorError(
      'typescriptClient.readOwnWrites: not with bySchema, whose modules do not know the writes of each other; remove one of them',
    );
  }
  if (batchPath !== null && readOwnWrites) {
    throw new GeneratorError(
      'typescriptClient.batchPath: not with readOwnWrites, which records each write by itself; remove one of them',
    );
  }
  if (includeHost && customHost === null && host === null) {
    throw new GeneratorError('typescriptClient.includeHost: the host is unknown; set host or customHost');
  }
  return options;
}
