import { Problem } from '../../http/problem.ts';
import type { StoredUpload, UploadContext, UploadFile, UploadHandler } from '../../ports/upload-handler.ts';
import { arrayLiteral } from '../../postgres/literal.ts';
import { checkRowCommand, RowCommands } from '../row-commands.ts';
import { type DateFormats, toFields, toJsonObject } from './cell-text.ts';
import { type ExcelLimits, excelLimits, MalformedWorkbook, WorkbookUsage } from './limits.ts';
import { missingPackages } from './packages.ts';
import { writeTemporaryFile } from './spool.ts';
import type { Sheet, Workbook } from './workbook.ts';

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

const defaultRowCommand = 'select process_excel_row($1,$2,$3,$4)';

/**
 * Runs an SQL command for each row of an Excel workbook (.xlsx), in the transaction of the call. The metadata has an object for each sheet
 * that was read, with the last result. A file that is no workbook, or does not have the sheet, is refused as `InvalidFormat`.
 * @param use `describe`: only endpoints and comments are read, for which the packages need not be installed
 * @throws RangeError if `rowCommand` cannot be the command of a row; Error if a package that reads workbooks is not installed
 */
export function excelHandler(defaults: ExcelUploadOptions = {}, use: 'store' | 'describe' = 'store'): UploadHandler {
  const fault = checkRowCommand(defaults.rowCommand ?? defaultRowCommand);
  if (fault !== null) throw new RangeError(`rowCommand ${fault}`);
  if (use === 'store') checkPackages();
  const limits = selectLimits(defaults);
  return {
    options: optionDefinitions(defaults),
    mayRefuse: true,
    refusedMembers: { members: { sheet: null } },
    store: async (file, context) => {
      const usage = new WorkbookUsage(limits);
      const temporary = await writeTemporaryFile(file.content);
      try {
        return await readFile(temporary.fd, { file, context, usage });
      } finally {
        await temporary.close();
      }
    },
  };
}

/** The reader is loaded by the first upload: it takes half a second and 30 MB. A missing package is an error of the start. */
function checkPackages(): void {
  const missing = missingPackages();
  if (missing.length === 0) return;
  throw new Error(`the upload handler excel needs ${missing.join(' and ')}; run npm install ${missing.join(' ')}`);
}

function selectLimits(defaults: ExcelUploadOptions): ExcelLimits {
  return {
    maxInflatedSize: defaults.maxInflatedSize ?? excelLimits.maxInflatedSize,
    maxSharedStringsSize: defaults.maxSharedStringsSize ?? excelLimits.maxSharedStringsSize,
    maxSheets: defaults.maxSheets ?? excelLimits.maxSheets,
    maxRows: defaults.maxRows ?? excelLimits.maxRows,
    maxCells: defaults.maxCells ?? excelLimits.maxCells,
  };
}

function optionDefinitions(defaults: ExcelUploadOptions): NonNullable<UploadHandler['options']> {
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

interface Upload {
  readonly file: UploadFile;
  readonly context: UploadContext;
  readonly usage: WorkbookUsage;
}

async function readFile(fd: number, upload: Upload): Promise<StoredUpload | readonly StoredUpload[]> {
  const { options } = upload.context;
  const reader = await import('./workbook.ts');
  const { WorkbookArchive } = await import('./archive.ts');
  let workbook: Workbook;
  try {
    workbook = await reader.Workbook.open(await WorkbookArchive.open(fd, upload.usage), upload.usage);
  } catch (error) {
    if (error instanceof MalformedWorkbook) return { status: 'InvalidFormat', members: { sheet: null } };
    throw error;
  }
  const name = options['sheet_name'] as string | null;
  const sheets = selectSheets(workbook.sheets, options['all_sheets'] === true, name);
  if (sheets.length === 0) return { status: 'InvalidFormat', members: { sheet: name } };
  const stored: StoredUpload[] = [];
  for (const sheet of sheets) {
    // oxlint-disable-next-line no-await-in-loop
    const lastResult = await runRows(workbook, sheet, upload);
    stored.push({ status: 'Ok', members: { sheet: sheet.name }, lastMembers: { lastResult } });
  }
  return stored;
}

function selectSheets(sheets: readonly Sheet[], all: boolean, name: string | null): readonly Sheet[] {
  if (all) return sheets;
  return name === null ? sheets.slice(0, 1) : sheets.filter((sheet) => sheet.name === name);
}

/** Returns the last result as JSON. */
async function runRows(workbook: Workbook, sheet: Sheet, { file, context }: Upload): Promise<string> {
  const { options, signal } = context;
  const { fileName, contentType } = file;
  const isJson = options['row_is_json'] === true;
  const commands = new RowCommands(await context.transaction(), {
    sql: options['row_command'] as string,
    fields: isJson ? 'json' : 'array',
    metadata: JSON.stringify({ type: context.handlerName, fileName, contentType, sheet: sheet.name }),
    location: { file: fileName, sheet: sheet.name },
  });
  const formats = dateFormats(options);
  let number = 0;
  try {
    for await (const row of workbook.rows(sheet)) {
      signal.throwIfAborted();
      ({ number } = row);
      await commands.add(number, isJson ? toJsonObject(row, formats) : arrayLiteral(toFields(row, formats)));
    }
  } catch (error) {
    throw error instanceof MalformedWorkbook ? malformedFile(error, { file, sheet, number }) : error;
  }
  return commands.finish();
}

function dateFormats(options: UploadContext['options']): DateFormats {
  return {
    time: options['time_format'] as string,
    date: options['date_format'] as string,
    datetime: options['datetime_format'] as string,
  };
}

interface Place {
  readonly file: UploadFile;
  readonly sheet: Sheet;
  readonly number: number;
}

function malformedFile(error: MalformedWorkbook, { file: { fileName }, sheet: { name }, number }: Place): Problem {
  return new Problem('malformed-file', {
    detail: `The sheet ${JSON.stringify(name)} of the workbook ${error.message}, after row ${number}.`,
    members: { file: fileName, sheet: name, row: number },
    cause: error,
  });
}
