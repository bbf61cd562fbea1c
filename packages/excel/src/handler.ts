import { Problem, type StoredUpload, type UploadContext, type UploadFile, type UploadHandler } from '@pgway/core';
import {
  arrayLiteral,
  checkRowCommand,
  commentOptions,
  parseBoolean,
  RowCommands,
  rowCommandTypes,
  withDefaults,
} from '@pgway/core/internal';
import { type DateFormats, toFields, toJsonObject } from './cell-text.ts';
import { MalformedWorkbook, WorkbookUsage } from './limits.ts';
import { excelRowOptions, type ExcelUploadOptions, excelUploadOptions } from './options.ts';
import { writeTemporaryFile } from './spool.ts';
import type { Sheet, Workbook } from './workbook.ts';

/**
 * Creates the handler that runs an SQL command for each row of an Excel workbook (.xlsx), in the transaction of the call. The metadata has an object for each sheet
 * that was read, with the last result. A file that is not a workbook, or does not have the sheet, is refused as `InvalidFormat`.
 * @throws RangeError if `rowCommand` cannot be the command of a row
 */
export function excelHandler(defaults: ExcelUploadOptions = {}): UploadHandler {
  const options = withDefaults(excelUploadOptions, defaults);
  const fault = checkRowCommand(options.rowCommand);
  if (fault !== null) throw new RangeError(`rowCommand ${fault}`);
  return {
    options: commentOptions(excelRowOptions, options, {
      rowCommand: {
        type: 'sql',
        check: checkRowCommand,
        parameterTypes: (sql, texts) => {
          const isJson = texts['row_is_json'] === undefined ? options.rowIsJson : parseBoolean(texts['row_is_json']);
          // The text of the option may be a parameter of the request.
          return isJson === null ? null : rowCommandTypes(sql, isJson ? 'json' : 'array');
        },
      },
    }),
    mayRefuse: true,
    refusedMembers: { members: { sheet: null } },
    store: async (file, context) => {
      const usage = new WorkbookUsage(options);
      const temporary = await writeTemporaryFile(file.content);
      try {
        // Waits for a connection before shared texts are in memory: as many workbooks are read as uploads may have connections.
        await context.transaction();
        return await readFile(temporary.fd, { file, context, usage });
      } finally {
        await temporary.close();
      }
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
  // Loading the reader takes half a second and 30 MB.
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
