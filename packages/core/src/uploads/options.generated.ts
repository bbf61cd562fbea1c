// Generated from the groups of options in this folder by `npm run options`. Do not edit.

/** Options that every upload handler has. */
export interface CommonUploadOptions {
  /** Whether a file that one handler has stored is `Ignored` by the handlers after it. Default false. */
  readonly stopAfterFirstSuccess: boolean;
  /** Patterns of media types with `*` and `?`, one of which a file has to match; without them, any type. */
  readonly includedMimeTypes: readonly string[] | null;
  /** Patterns of media types that are refused, even if they are included. */
  readonly excludedMimeTypes: readonly string[] | null;
  /** Bytes of one write to a file or a large object. Default 1,048,576. */
  readonly bufferSize: number;
  /** Whether files that look binary are refused. Default false. */
  readonly checkText: boolean;
  /**
   * Whether files have to be images, or a list of the formats that are allowed: `jpg`, `jpeg`, `png`, `gif`, `bmp`,
   * `tiff`, `webp`. Default false.
   */
  readonly checkImage: boolean | readonly ('jpg' | 'jpeg' | 'png' | 'gif' | 'bmp' | 'tiff' | 'webp')[];
  /** Bytes at the beginning of a file that `checkText` reads. Default 4,096. */
  readonly testBufferSize: number;
  /** Control characters in these bytes beyond which a file looks binary. Default 5. */
  readonly nonPrintableThreshold: number;
}

/** Options of the handler `csv`. */
export interface CsvUploadOptions {
  /** Whether a file has to be text with at least one line feed. Default true. */
  readonly checkFormat: boolean;
  /** Characters, each of which separates fields. Default `,`. */
  readonly delimiters: string;
  /** Whether fields may be enclosed in double quotes, and then have delimiters and line ends. Default true. */
  readonly hasFieldsEnclosedInQuotes: boolean;
  /** Whether fields of white space only are NULL. Default true. */
  readonly setWhiteSpaceToNull: boolean;
  /**
   * The SQL command that runs for each row: `$1` is the line in which the row begins, `$2` its fields as `text[]`, `$3`
   * the result of the previous row as text, and `$4` a JSON object with `type`, `fileName` and `contentType` of the
   * file. Without `$3`, rows do not wait for each other. Default `select process_csv_row($1,$2,$3,$4)`.
   */
  readonly rowCommand: string;
}

/** Options that comments can override. The first ones apply to every handler. */
export interface DefaultUploadHandlerOptions {
  /** Whether a file that one handler has stored is `Ignored` by the handlers after it. Default false. */
  readonly stopAfterFirstSuccess: boolean;
  /** Patterns of media types with `*` and `?`, one of which a file has to match; without them, any type. */
  readonly includedMimeTypes: readonly string[] | null;
  /** Patterns of media types that are refused, even if they are included. */
  readonly excludedMimeTypes: readonly string[] | null;
  /** Bytes of one write to a file or a large object. Default 1,048,576. */
  readonly bufferSize: number;
  /** Whether files that look binary are refused. Default false. */
  readonly checkText: boolean;
  /**
   * Whether files have to be images, or a list of the formats that are allowed: `jpg`, `jpeg`, `png`, `gif`, `bmp`,
   * `tiff`, `webp`. Default false.
   */
  readonly checkImage: boolean | readonly ('jpg' | 'jpeg' | 'png' | 'gif' | 'bmp' | 'tiff' | 'webp')[];
  /** Bytes at the beginning of a file that `checkText` reads. Default 4,096. */
  readonly testBufferSize: number;
  /** Control characters in these bytes beyond which a file looks binary. Default 5. */
  readonly nonPrintableThreshold: number;
  /** Options of the handler `file_system`. */
  readonly fileSystem: Partial<FileSystemUploadOptions>;
  /** Options of the handler `csv`. */
  readonly csv: Partial<CsvUploadOptions>;
}

/** Options of the handler `file_system`. */
export interface FileSystemUploadOptions {
  /** The folder of the files. A relative path begins in the working directory of the process. Default `./`. */
  readonly path: string;
  /** The name of the file; without it, as `uniqueName` says. */
  readonly file: string | null;
  /**
   * Whether files get a new name, `<uuid>.<extension>`. Otherwise the name from the client is made safe. Default true.
   */
  readonly uniqueName: boolean;
  /** Whether missing folders are created. Default true. */
  readonly createPath: boolean;
}
