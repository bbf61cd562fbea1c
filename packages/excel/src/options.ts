import {
  boolean,
  integer,
  nonEmptyString,
  nullable,
  option,
  optionGroup,
  type OptionGroup,
} from '@pgway/core/internal';
import type { ExcelLimits, ExcelRowOptions, ExcelUploadOptions } from './options.generated.ts';

export type { ExcelLimits, ExcelRowOptions, ExcelUploadOptions } from './options.generated.ts';

const bytes = integer({ min: 1 });

/** What comments can override. */
export const excelRowOptions: OptionGroup<ExcelRowOptions> = optionGroup<ExcelRowOptions>(
  'ExcelRowOptions',
  'The sheets that are read, and what the command of a row gets.',
  {
    sheetName: option(
      nullable(nonEmptyString),
      null,
      'The sheet that is read; without it, the first one. A workbook without the sheet is `InvalidFormat`.',
    ),
    allSheets: option(boolean, false, 'Whether all sheets are read, hidden ones too, whatever `sheetName` is.'),
    timeFormat: option(
      nonEmptyString,
      'HH:mm:ss',
      'The text of times without a date, with the tokens `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` and `fff`.',
    ),
    dateFormat: option(nonEmptyString, 'yyyy-MM-dd', 'The text of dates without a time.'),
    datetimeFormat: option(nonEmptyString, 'yyyy-MM-dd HH:mm:ss', 'The text of dates with a time.'),
    rowIsJson: option(
      boolean,
      false,
      'Whether `$2` of the row command is a JSON object by cell address, such as `{"A1": "Dune", "C1": 1965}`, instead of an array.',
    ),
    rowCommand: option(
      nonEmptyString,
      'select process_excel_row($1,$2,$3,$4)',
      'The SQL command that runs for each row that has a value: `$1` is the number of the row in its sheet, `$2` its values as `text[]` (NULL: an empty cell or an error such as `#N/A`), `$3` the result of the previous row of the sheet as text, and `$4` a JSON object with `type`, `fileName`, `contentType` and `sheet`. Without `$3`, rows do not wait for each other.',
    ),
  },
);

export const excelLimits: OptionGroup<ExcelLimits> = optionGroup<ExcelLimits>(
  'ExcelLimits',
  'The largest workbook that is read.',
  {
    maxInflatedSize: option(
      bytes,
      256 * 1024 * 1024,
      'Maximum bytes of the parts of a workbook that are read, uncompressed.',
    ),
    maxSharedStringsSize: option(
      bytes,
      64 * 1024 * 1024,
      'Maximum bytes of the shared texts, uncompressed. They are kept in memory.',
    ),
    maxSheets: option(integer({ min: 1, max: 1_000_000 }), 100, 'Maximum number of sheets of a workbook.'),
    maxRows: option(
      integer({ min: 1, max: 1_000_000_000 }),
      1_048_576,
      'Maximum number of rows of the sheets that are read.',
    ),
    maxCells: option(
      integer({ min: 1, max: 1_000_000_000 }),
      10_000_000,
      'Maximum number of cells of the sheets that are read, with the gaps before the last cell of a row.',
    ),
  },
);

export const excelUploadOptions: OptionGroup<ExcelUploadOptions> = optionGroup<ExcelUploadOptions>(
  'ExcelUploadOptions',
  'Options and limits of the handler `excel`.',
  { ...excelRowOptions.options, ...excelLimits.options },
  { isPartial: true },
);
