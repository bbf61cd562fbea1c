import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import readExcelFile from 'read-excel-file/node';
import { excelLimits } from '../src/options.ts';
import { WorkbookArchive } from '../src/archive.ts';
import { WorkbookUsage } from '../src/limits.ts';
import { type CellValue, Workbook } from '../src/workbook.ts';
import { defaultsOf } from '@pgway/core/internal';

export interface ReadSheet {
  readonly name: string;
  /** With the headings; null for cells without a value. */
  readonly rows: readonly (readonly CellValue[])[];
}

/** Reads a workbook with the reader of uploads. */
export async function readWithOwnReader(bytes: Uint8Array): Promise<ReadSheet> {
  const folder = await mkdtemp(join(tmpdir(), 'workbook-'));
  const file = join(folder, 'rows.xlsx');
  await writeFile(file, bytes);
  const handle = await open(file);
  try {
    const usage = new WorkbookUsage(defaultsOf(excelLimits));
    const workbook = await Workbook.open(await WorkbookArchive.open(handle.fd, usage), usage);
    const [sheet] = workbook.sheets;
    const rows: CellValue[][] = [];
    for await (const { number, cells } of workbook.rows(sheet!)) {
      while (rows.length < number - 1) rows.push([]);
      const row: CellValue[] = [];
      for (const [column, value] of cells) row[column - 1] = value;
      rows.push(Array.from(row, (value) => value ?? null));
    }
    return { name: sheet!.name, rows };
  } finally {
    await handle.close();
    await rm(folder, { recursive: true });
  }
}

/** Reads a workbook with a library that shares no code with the writer or the reader of uploads. */
export async function readWithLibrary(bytes: Uint8Array): Promise<ReadSheet> {
  const [sheet] = await readExcelFile(Buffer.from(bytes), { trim: false });
  return { name: sheet!.sheet, rows: sheet!.data as ReadSheet['rows'] };
}
