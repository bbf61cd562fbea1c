// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Options of `httpFile`, the generator of request files. */
export interface HttpFileOptions {
  /**
   * `file`: `pgway generate` writes them. `endpoint`: the server serves them at `path`. `both`: both. Default `file`.
   */
  readonly option: 'file' | 'endpoint' | 'both';
  /** The name of a file, without `.http`; `{0}` is replaced by the database, `{1}` by the schema. Default `{0}_{1}`. */
  readonly namePattern: string;
  /** The folder of the files. Null: no files are written. */
  readonly folder: string | null;
  /** The replacement of `{0}`. Default `database`. */
  readonly databaseName: string;
  /** One file per database or per schema. Default `database`. */
  readonly fileMode: 'database' | 'schema';
  /** Overwrites an existing file with other content. Default false. */
  readonly fileOverwrite: boolean;
  /** The value of the variable `@host`. Default `http://localhost:8080`. */
  readonly host: string;
  /**
   * The comment of each request: none, the signature with its parameters, or the whole definition of the routine.
   * Default `simple`.
   */
  readonly commentHeader: 'none' | 'simple' | 'full';
  /** Includes the text of the routine comment in the comment of the request. Default true. */
  readonly commentHeaderIncludeComments: boolean;
}
