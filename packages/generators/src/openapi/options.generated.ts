// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Options of `openApi`, the generator of OpenAPI documents. */
export interface OpenApiOptions {
  /** The file that `pgway generate` writes. Null: no file is written. */
  readonly filePath: string | null;
  /** Overwrites an existing file with other content. Default false. */
  readonly fileOverwrite: boolean;
  /** The version of OpenAPI. With 3.2, the document has the method QUERY, which fewer tools know. Default `3.1`. */
  readonly specification: '3.1' | '3.2';
  /** The title of the API. Default `API`. */
  readonly title: string;
  /** The version of the API. Default `1`. */
  readonly version: string;
  /** The description of the API, in Markdown. */
  readonly description: string | null;
  /** The licence of the API as an SPDX expression, as in `MIT`. */
  readonly license: string | null;
  /** Base URLs of the API; empty: the host that served the document. */
  readonly servers: readonly string[];
  /** Security Scheme Objects by name, for endpoints that require an authenticated caller. */
  readonly securitySchemes: Readonly<Record<string, object>>;
  /** The path of batches; null: the document has none. */
  readonly batchPath: string | null;
  /** The prefix of generated paths, which names omit. Default `/api`. */
  readonly urlPathPrefix: string | null;
  /** Functions and operations are named after routines instead of paths. Default false. */
  readonly useRoutineNameInsteadOfEndpoint: boolean;
}
