import { z } from 'zod';
import { count, flag, optionalText, optionalTextList, text } from './fields.ts';

const bytes = (byDefault: number, description: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(byDefault).describe(description);

/** Bytes of a buffer, with the range of the option in comments. */
const buffer = (byDefault: number, max: number, description: string): z.ZodDefault<z.ZodNumber> =>
  z.int().min(1).max(max).default(byDefault).describe(description);

const imageFormats = z.enum(['jpg', 'jpeg', 'png', 'gif', 'bmp', 'tiff', 'webp']);

const fileSystem = z
  .strictObject({
    path: text('./', 'The folder of the files. A relative path begins in the working directory of the process.'),
    file: optionalText('The name of the file; null: as `uniqueName` says.'),
    uniqueName: flag(
      true,
      'Whether files get a new name, `<uuid>.<extension>`. Otherwise the name from the client is made safe.',
    ),
    createPath: flag(true, 'Whether missing folders are created.'),
  })
  .prefault({})
  .describe('Options of the handler `file_system`.');

const csv = z
  .strictObject({
    checkFormat: flag(true, 'Whether a file has to be text with at least one line feed.'),
    delimiters: text(',', 'Characters, each of which separates fields.'),
    hasFieldsEnclosedInQuotes: flag(true, 'Whether fields may be enclosed in double quotes.'),
    setWhiteSpaceToNull: flag(true, 'Whether fields of white space only are NULL.'),
    rowCommand: text(
      'select process_csv_row($1,$2,$3,$4)',
      'The SQL command that runs for each row: `$1` line number, `$2` fields as `text[]`, `$3` result of the previous row, `$4` metadata of the file as JSON.',
    ),
  })
  .prefault({})
  .describe('Options of the handler `csv`.');

const excel = z
  .strictObject({
    sheetName: optionalText('The sheet that is read; null: the first one.'),
    allSheets: flag(false, 'Whether all sheets are read.'),
    timeFormat: text('HH:mm:ss', 'The text of times without a date.'),
    dateFormat: text('yyyy-MM-dd', 'The text of dates without a time.'),
    datetimeFormat: text('yyyy-MM-dd HH:mm:ss', 'The text of dates with a time.'),
    rowIsJson: flag(false, 'Whether the row command gets a JSON object by cell address instead of an array.'),
    rowCommand: text(
      'select process_excel_row($1,$2,$3,$4)',
      'The SQL command that runs for each row: `$1` row number, `$2` values as `text[]` or JSON, `$3` result of the previous row, `$4` metadata of the file as JSON.',
    ),
    maxInflatedSize: bytes(268_435_456, 'Maximum bytes of the parts of a workbook that are read, uncompressed.'),
    maxSharedStringsSize: bytes(
      67_108_864,
      'Maximum bytes of the shared texts, uncompressed. They are kept in memory.',
    ),
    maxSheets: count(100, 'Maximum number of sheets of a workbook.'),
    maxRows: count(1_048_576, 'Maximum number of rows of the sheets that are read.', 1_000_000_000),
    maxCells: count(
      10_000_000,
      'Maximum number of cells of the sheets that are read, with the gaps before the last cell of a row.',
      1_000_000_000,
    ),
  })
  .prefault({})
  .describe('Options and limits of the handler `excel`.');

const handlerOptions = z
  .strictObject({
    stopAfterFirstSuccess: flag(
      false,
      'Whether a file that one handler has stored is `Ignored` by the handlers after it.',
    ),
    includedMimeTypes: optionalTextList(
      'Patterns of media types with `*` and `?`, one of which a file has to match; null: any type.',
    ),
    excludedMimeTypes: optionalTextList('Patterns of media types that are refused, even if they are included.'),
    bufferSize: buffer(1_048_576, 16_777_216, 'Bytes of one write to a file or a large object.'),
    checkText: flag(false, 'Whether files that look binary are refused.'),
    checkImage: z
      .union([z.boolean(), z.array(imageFormats)], {
        error: 'must be true, false or a list of jpg, jpeg, png, gif, bmp, tiff, webp',
      })
      .default(false)
      .describe(
        'Whether files have to be images, or a list of the formats that are allowed: `jpg`, `jpeg`, `png`, `gif`, `bmp`, `tiff`, `webp`.',
      ),
    testBufferSize: buffer(4096, 1_048_576, 'Bytes at the beginning of a file that `checkText` reads.'),
    nonPrintableThreshold: z
      .int()
      .min(0)
      .max(1_048_576)
      .default(5)
      .describe('Control characters in these bytes beyond which a file looks binary.'),
    fileSystem,
    csv,
    excel,
  })
  .prefault({})
  .describe('Options that comments can override. The first ones apply to every handler.');

/** The section `uploadOptions`: file uploads. */
export const uploadsSection = z
  .strictObject({
    enabled: flag(true, 'False: an endpoint with `upload` in its comment is an error.'),
    logUploadEvent: flag(true, 'Whether each upload is logged.'),
    uploadHandlers: z
      .array(z.enum(['large_object', 'file_system', 'csv', 'excel']))
      .default(['large_object', 'file_system', 'csv', 'excel'])
      .describe(
        'The handlers that comments can select: `large_object`, `file_system`, `csv` and `excel`. An empty list disables uploads.',
      ),
    defaultUploadHandler: text(
      'large_object',
      'The handler of comments that name none. Without `large_object` in `uploadHandlers`, the default has no effect.',
    ),
    defaultUploadMetadataContextKey: text(
      'request.upload_metadata',
      'The setting that receives the metadata of the files as JSON.',
    ),
    defaultUploadMetadataParameterName: text(
      '_upload_metadata',
      'The parameter that receives the metadata of the files as JSON.',
    ),
    useDefaultUploadMetadataContextKey: flag(
      false,
      'Whether calls after an upload have the setting `defaultUploadMetadataContextKey`.',
    ),
    useDefaultUploadMetadataParameter: flag(
      false,
      'Whether parameters named `defaultUploadMetadataParameterName` receive the metadata without being named in the comment.',
    ),
    maxFileSize: bytes(134_217_728, 'Maximum bytes of a file; a larger one is answered 413.'),
    maxTotalSize: bytes(268_435_456, 'Maximum bytes of the whole body; a larger one is answered 413.'),
    maxFiles: count(20, 'Maximum number of files of a form; a further one is answered 413.'),
    maxParts: count(100, 'Maximum number of files and fields of a form together; a further one is answered 413.'),
    minUploadRate: z
      .int()
      .min(0)
      .max(1_073_741_824)
      .default(1024)
      .describe(
        'Bytes per second; a client that is more than `gateway.slowClientTimeout` behind is answered 408, as its upload holds a connection. 0: no minimum.',
      ),
    maxUploadConnections: z
      .int()
      .min(1)
      .max(10_000)
      .nullable()
      .default(null)
      .describe(
        'Maximum number of connections to each database that uploads hold; null: half of its connections, at least one.',
      ),
    uploadQueueTimeout: z
      .number()
      .positive()
      .max(86_400)
      .default(60)
      .describe('Seconds that an upload waits for one of these connections before it is answered 503.'),
    defaultUploadHandlerOptions: handlerOptions,
  })
  .prefault({})
  .describe('File uploads: endpoints with `upload` in their comment.');
