// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Options of `typescriptClient`, the generator of typed clients. */
export interface TypescriptClientOptions {
  /** The file that `pgway generate` writes; with `bySchema`, `{0}` is replaced by the schema. Null: no client. */
  readonly filePath: string | null;
  /** Overwrites an existing file with other content. Default false. */
  readonly fileOverwrite: boolean;
  /** URLs begin with the address that the server listens on. Default false. */
  readonly includeHost: boolean;
  /** The URL of the server, as in `http://localhost:8080`, for `includeHost`. */
  readonly host: string | null;
  /** The start of all URLs, as in `https://api.example.org`. */
  readonly customHost: string | null;
  /**
   * The comment of each function: none, the signature with parameters and result, or the whole definition of the
   * routine. Default `simple`.
   */
  readonly commentHeader: 'none' | 'simple' | 'full';
  /** Includes the text of the routine comment in the comment of the function. Default true. */
  readonly commentHeaderIncludeComments: boolean;
  /** Functions return the status, and problems instead of throwing exceptions. Default false. */
  readonly includeStatusCode: boolean;
  /** Writes one file per schema. Default false. */
  readonly bySchema: boolean;
  /** Writes types to a separate file, `<name>Types.d.ts`. Default true. */
  readonly createSeparateTypeFile: boolean;
  /** Lines at the top of each file; `{0}` is replaced by the time. */
  readonly headerLines: readonly string[];
  /** The module that exports `baseUrl`; null: a constant in the file. */
  readonly importBaseUrlFrom: string | null;
  /** The module that exports `parseQuery`; null: a function in the file. */
  readonly importParseQueryFrom: string | null;
  /** Functions take a callback `parseUrl` that can change the URL. Default false. */
  readonly includeParseUrlParam: boolean;
  /** Functions take a callback `parseRequest` that can change the arguments of `fetch`. Default false. */
  readonly includeParseRequestParam: boolean;
  /** Routines to leave out of the client, by name without schema. */
  readonly skipRoutineNames: readonly string[];
  /** Functions to leave out of the client, by name. */
  readonly skipFunctionNames: readonly string[];
  /** Endpoints to leave out of the client, by path. */
  readonly skipPaths: readonly string[];
  /** Schemas whose routines are left out of the client. */
  readonly skipSchemas: readonly string[];
  /** The TypeScript type of json and jsonb, such as `unknown` or `any`. Default `string`. */
  readonly defaultJsonType: string;
  /** Exports a `<name>Url` for each function. Default false. */
  readonly exportUrls: boolean;
  /** Writes plain JavaScript; `filePath` then ends with `.js`. Default false. */
  readonly skipTypes: boolean;
  /** Merges interfaces with the same members. Default false. */
  readonly uniqueModels: boolean;
  /**
   * Exports functions that open the event streams of endpoints. Their result has the members of `EventSource`, and
   * sends `customHeaders`. Default true.
   */
  readonly exportEventSources: boolean;
  /** Import statements to add, for example for `customHeaders` and `defaultJsonType`. */
  readonly customImports: readonly string[];
  /** Headers of every request, by name; each value is a JavaScript expression such as `"1"` or `token()`. */
  readonly customHeaders: Readonly<Record<string, string>>;
  /** The header that carries the `xsrfToken` of a call, for methods that change data. */
  readonly xsrfTokenHeaderName: string | null;
  /**
   * Values of the type `bigint` that JSON has as strings (`largeNumbers`) are `bigint` in the client, not `string`.
   * Default false.
   */
  readonly parseBigints: boolean;
  /** Reads include the earlier writes of the module, on read replicas too. Not with `bySchema`. Default false. */
  readonly readOwnWrites: boolean;
  /**
   * The path of batches (`gateway.batchPath`), for the functions `batch` and `reference`; null: without them. Not with
   * `readOwnWrites`.
   */
  readonly batchPath: string | null;
  /** The prefix of generated paths, which names omit. Default `/api`. */
  readonly urlPathPrefix: string | null;
  /** Functions and operations are named after routines instead of paths. Default false. */
  readonly useRoutineNameInsteadOfEndpoint: boolean;
}
