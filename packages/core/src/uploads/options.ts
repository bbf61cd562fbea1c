import { option, optionGroup, type OptionGroup, partOf } from '../validation/option.ts';
import { arrayOf, boolean, integer, nonEmptyString, nullable, oneOf, union } from '../validation/validators.ts';
import type {
  CommonUploadOptions,
  CsvUploadOptions,
  DefaultUploadHandlerOptions,
  FileSystemUploadOptions,
} from './options.generated.ts';

export type {
  CommonUploadOptions,
  CsvUploadOptions,
  DefaultUploadHandlerOptions,
  FileSystemUploadOptions,
} from './options.generated.ts';

/** The image formats that `check_image` can list. */
export const imageFormats = ['jpg', 'jpeg', 'png', 'gif', 'bmp', 'tiff', 'webp'] as const;

const patterns = nullable(arrayOf(nonEmptyString));

export const commonUploadOptions: OptionGroup<CommonUploadOptions> = optionGroup<CommonUploadOptions>(
  'CommonUploadOptions',
  'Options that every upload handler has.',
  {
    stopAfterFirstSuccess: option(
      boolean,
      false,
      'Whether a file that one handler has stored is `Ignored` by the handlers after it.',
    ),
    includedMimeTypes: option(
      patterns,
      null,
      'Patterns of media types with `*` and `?`, one of which a file has to match; without them, any type.',
    ),
    excludedMimeTypes: option(patterns, null, 'Patterns of media types that are refused, even if they are included.'),
    bufferSize: option(
      integer({ min: 1, max: 16 * 1024 * 1024 }),
      1024 * 1024,
      'Bytes of one write to a file or a large object.',
    ),
    checkText: option(boolean, false, 'Whether files that look binary are refused.'),
    checkImage: option(
      union(boolean, arrayOf(oneOf(...imageFormats))),
      false,
      'Whether files have to be images, or a list of the formats that are allowed: `jpg`, `jpeg`, `png`, `gif`, `bmp`, `tiff`, `webp`.',
    ),
    testBufferSize: option(
      integer({ min: 1, max: 1024 * 1024 }),
      4096,
      'Bytes at the beginning of a file that `checkText` reads.',
    ),
    nonPrintableThreshold: option(
      integer({ min: 0, max: 1024 * 1024 }),
      5,
      'Control characters in these bytes beyond which a file looks binary.',
    ),
  },
);

export const fileSystemUploadOptions: OptionGroup<FileSystemUploadOptions> = optionGroup<FileSystemUploadOptions>(
  'FileSystemUploadOptions',
  'Options of the handler `file_system`.',
  {
    path: option(
      nonEmptyString,
      './',
      'The folder of the files. A relative path begins in the working directory of the process.',
    ),
    file: option(nullable(nonEmptyString), null, 'The name of the file; without it, as `uniqueName` says.'),
    uniqueName: option(
      boolean,
      true,
      'Whether files get a new name, `<uuid>.<extension>`. Otherwise the name from the client is made safe.',
    ),
    createPath: option(boolean, true, 'Whether missing folders are created.'),
  },
);

export const csvUploadOptions: OptionGroup<CsvUploadOptions> = optionGroup<CsvUploadOptions>(
  'CsvUploadOptions',
  'Options of the handler `csv`.',
  {
    checkFormat: option(boolean, true, 'Whether a file has to be text with at least one line feed.'),
    delimiters: option(nonEmptyString, ',', 'Characters, each of which separates fields.'),
    hasFieldsEnclosedInQuotes: option(
      boolean,
      true,
      'Whether fields may be enclosed in double quotes, and then have delimiters and line ends.',
    ),
    setWhiteSpaceToNull: option(boolean, true, 'Whether fields of white space only are NULL.'),
    rowCommand: option(
      nonEmptyString,
      'select process_csv_row($1,$2,$3,$4)',
      'The SQL command that runs for each row: `$1` is the line in which the row begins, `$2` its fields as `text[]`, `$3` the result of the previous row as text, and `$4` a JSON object with `type`, `fileName` and `contentType` of the file. Without `$3`, rows do not wait for each other.',
    ),
  },
);

export const defaultUploadHandlerOptions: OptionGroup<DefaultUploadHandlerOptions> =
  optionGroup<DefaultUploadHandlerOptions>(
    'DefaultUploadHandlerOptions',
    'Options that comments can override. The first ones apply to every handler.',
    {
      ...commonUploadOptions.options,
      fileSystem: option(partOf(fileSystemUploadOptions), {}, 'Options of the handler `file_system`.'),
      csv: option(partOf(csvUploadOptions), {}, 'Options of the handler `csv`.'),
    },
  );
