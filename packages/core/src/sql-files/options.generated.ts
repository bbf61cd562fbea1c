// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** SQL files as endpoints. */
export interface SqlFilesOptions {
  /**
   * Patterns of the SQL files that are endpoints, such as `api/**\/*.sql`, below `folder`. A file needs an `HTTP` line
   * in its comments; `*.test.sql` is never an endpoint.
   */
  readonly files: string | readonly string[];
  /** The folder of the patterns. Default `.`. */
  readonly folder?: string;
  /** Whether the folders of a file, below `folder`, are part of the path of its endpoint. Default false. */
  readonly folderPaths?: boolean;
}
