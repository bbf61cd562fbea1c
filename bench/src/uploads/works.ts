import type { Content } from './content.ts';
import { orderedRowCommand, rowCommand } from './schema.sql.ts';

/** An upload, and what limits its speed without a gateway. */
export interface UploadWork {
  readonly name: string;
  readonly title: string;
  /** The name of the endpoint. */
  readonly endpoint: string;
  readonly unit: 'MiB' | 'rows';
  /** MiB or rows of the content. */
  readonly amount: number;
  readonly file: { readonly fileName: string; readonly contentType: string; readonly content: Content };
  /** Null: without a comparison. */
  readonly limit: Limit | null;
  /** The lowest ratio to the speed of the limit; null: the comparison is information. */
  readonly minRatio: number | null;
  /** The maximum of the process while it stores the file, in bytes: beyond its memory before, or in total. */
  readonly maxMemory: { readonly extra: number } | { readonly total: number };
  /** Whether other calls are measured during the upload. */
  readonly hasOtherCalls: boolean;
  /** Fails unless the database has the rows. */
  readonly countSql: string | null;
}

export type Limit =
  | { readonly kind: 'copy' }
  | { readonly kind: 'large-object' }
  | { readonly kind: 'row-client'; readonly sql: string; readonly pipeline: boolean };

export interface UploadSizes {
  /** Of the large files. */
  readonly mebibytes: number;
  readonly csvRows: number;
  readonly excelRows: number;
  /** The path of a workbook with `excelRows` rows. */
  readonly workbook: string;
}

const mebibyte: number = 2 ** 20;
const extraMemory = { extra: 64 * mebibyte } as const;

export const uploadWorkNames = ['disk', 'large-object', 'csv', 'csv-in-order', 'csv-wide', 'excel'] as const;

const defaults = { limit: null, minRatio: null, maxMemory: extraMemory, countSql: null, hasOtherCalls: true } as const;

export function uploadWorks(sizes: UploadSizes): readonly UploadWork[] {
  const { mebibytes, csvRows } = sizes;
  return [...largeFileWorks(mebibytes), ...csvWorks(csvRows), wideCsvWork(mebibytes), excelWork(sizes)];
}

function largeFileWorks(mebibytes: number): readonly UploadWork[] {
  const size = `${mebibytes.toLocaleString('en-US')} MiB`;
  const content = { kind: 'random', bytes: mebibytes * mebibyte } as const;
  const file = { fileName: 'random.bin', contentType: 'application/octet-stream', content };
  const large = { ...defaults, unit: 'MiB', amount: mebibytes, file } as const;
  return [
    {
      ...large,
      name: 'disk',
      title: `${size} to disk`,
      endpoint: 'to-disk',
      limit: { kind: 'copy' },
      minRatio: 0.25,
    },
    {
      ...large,
      name: 'large-object',
      title: `${size} to a large object`,
      endpoint: 'to-large-object',
      limit: { kind: 'large-object' },
      minRatio: 1,
    },
  ];
}

const csvFile = { fileName: 'books.csv', contentType: 'text/csv' } as const;

function csvWorks(csvRows: number): readonly UploadWork[] {
  const rows = `${csvRows.toLocaleString('en-US')} rows`;
  const csv = {
    ...defaults,
    unit: 'rows',
    amount: csvRows,
    file: { ...csvFile, content: { kind: 'csv', rows: csvRows } },
    countSql: 'select count(*) from bench.book',
  } as const;
  return [
    {
      ...csv,
      name: 'csv',
      title: `CSV, ${rows}`,
      endpoint: 'csv-rows',
      limit: { kind: 'row-client', sql: rowCommand, pipeline: true },
      minRatio: 0.7,
    },
    {
      ...csv,
      name: 'csv-in-order',
      title: `CSV with $3, ${rows}`,
      endpoint: 'csv-rows-in-order',
      limit: { kind: 'row-client', sql: orderedRowCommand, pipeline: false },
      hasOtherCalls: false,
    },
  ];
}

function wideCsvWork(mebibytes: number): UploadWork {
  return {
    ...defaults,
    name: 'csv-wide',
    title: `CSV, ${mebibytes.toLocaleString('en-US')} MiB in rows of 4 KiB`,
    endpoint: 'csv-wide-rows',
    unit: 'MiB',
    amount: mebibytes,
    file: { ...csvFile, content: { kind: 'wide-csv', bytes: mebibytes * mebibyte } },
  };
}

function excelWork({ excelRows, workbook }: UploadSizes): UploadWork {
  return {
    ...defaults,
    name: 'excel',
    title: `Excel, ${excelRows.toLocaleString('en-US')} rows × 10`,
    endpoint: 'excel-rows',
    unit: 'rows',
    amount: excelRows,
    file: {
      fileName: 'books.xlsx',
      contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      content: { kind: 'file', path: workbook },
    },
    maxMemory: { total: 256 * mebibyte },
    countSql: 'select count(*) from bench.sheet',
  };
}
