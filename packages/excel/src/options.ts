import type { UploadHandler } from '@pgway/core';
import { checkRowCommand } from '@pgway/core/internal';
import type { ExcelLimits } from './limits.ts';

/** The defaults of the options of the handler `excel`, and its limits. */
export interface ExcelUploadOptions extends Partial<ExcelLimits> {
  /** The sheet that is read; null: the first one. Default null. */
  readonly sheetName?: string | null;
  /** Whether all sheets are read. Default false. */
  readonly allSheets?: boolean;
  /** The text of times without a date. Default `HH:mm:ss`. */
  readonly timeFormat?: string;
  /** The text of dates without a time. Default `yyyy-MM-dd`. */
  readonly dateFormat?: string;
  /** The text of dates with a time. Default `yyyy-MM-dd HH:mm:ss`. */
  readonly datetimeFormat?: string;
  /** Whether the row command gets a JSON object by cell address instead of an array. Default false. */
  readonly rowIsJson?: boolean;
  /** The SQL command that runs for each row. Default `select process_excel_row($1,$2,$3,$4)`. */
  readonly rowCommand?: string;
}

export const defaultRowCommand = 'select process_excel_row($1,$2,$3,$4)';

/** Returns what annotations and form fields of the handler `excel` can set. */
export function excelUploadOptions(defaults: ExcelUploadOptions): NonNullable<UploadHandler['options']> {
  return {
    sheet_name: {
      type: 'text',
      description:
        'The sheet that is read. Without it, the first one. A workbook without the sheet is `InvalidFormat`.',
      default: defaults.sheetName ?? null,
    },
    all_sheets: {
      type: 'boolean',
      description: 'Whether all sheets are read, hidden ones too, whatever `sheet_name` is.',
      default: defaults.allSheets ?? false,
    },
    time_format: {
      type: 'text',
      description: 'The text of times without a date, with the tokens `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` and `fff`.',
      default: defaults.timeFormat ?? 'HH:mm:ss',
    },
    date_format: {
      type: 'text',
      description: 'The text of dates without a time.',
      default: defaults.dateFormat ?? 'yyyy-MM-dd',
    },
    datetime_format: {
      type: 'text',
      description: 'The text of dates with a time.',
      default: defaults.datetimeFormat ?? 'yyyy-MM-dd HH:mm:ss',
    },
    row_is_json: {
      type: 'boolean',
      description:
        'Whether `$2` is a JSON object by cell address, such as `{"A1": "Dune", "C1": 1965}`, instead of an array.',
      default: defaults.rowIsJson ?? false,
    },
    row_command: {
      type: 'sql',
      description:
        'The command that runs for each row that has a value: `$1` is the number of the row in its sheet, `$2` its values as `text[]` (NULL: an empty cell or an error such as `#N/A`), `$3` the result of the previous row of the sheet as text, and `$4` a JSON object with `type`, `fileName`, `contentType` and `sheet`. Without `$3`, rows do not wait for each other.',
      default: defaults.rowCommand ?? defaultRowCommand,
      check: checkRowCommand,
    },
  };
}
