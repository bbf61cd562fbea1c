import { Problem } from '@pgway/core';

/** The largest workbook that is read. */
export interface ExcelLimits {
  /** Bytes of the parts of a workbook that are read, uncompressed. Default 268,435,456 (256 MiB). */
  readonly maxInflatedSize: number;
  /** Bytes of the table of shared texts, uncompressed. It is kept in memory. Default 67,108,864 (64 MiB). */
  readonly maxSharedStringsSize: number;
  /** Sheets of a workbook. Default 100. */
  readonly maxSheets: number;
  /** Rows of the sheets that are read. Default 1,048,576. */
  readonly maxRows: number;
  /** Cells of the sheets that are read, with the gaps before the last cell of a row. Default 10,000,000. */
  readonly maxCells: number;
}

export const excelLimits: ExcelLimits = Object.freeze({
  maxInflatedSize: 256 * 1024 * 1024,
  maxSharedStringsSize: 64 * 1024 * 1024,
  maxSheets: 100,
  maxRows: 1_048_576,
  maxCells: 10_000_000,
});

const units: Readonly<Record<keyof ExcelLimits, string>> = {
  maxInflatedSize: 'uncompressed bytes',
  maxSharedStringsSize: 'uncompressed bytes of shared texts',
  maxSheets: 'sheets',
  maxRows: 'rows',
  maxCells: 'cells',
};

/** Counts what has been read of one workbook. */
export class WorkbookUsage {
  readonly #limits: ExcelLimits;
  readonly #counts: Record<keyof ExcelLimits, number> = {
    maxInflatedSize: 0,
    maxSharedStringsSize: 0,
    maxSheets: 0,
    maxRows: 0,
    maxCells: 0,
  };

  constructor(limits: ExcelLimits) {
    this.#limits = limits;
  }

  /** @throws Problem 413 past the limit */
  add(limit: keyof ExcelLimits, count: number): void {
    this.#counts[limit] += count;
    const max = this.#limits[limit];
    if (this.#counts[limit] <= max) return;
    throw new Problem('body-too-large', {
      detail: `The workbook has more than ${max} ${units[limit]} (${limit}).`,
    });
  }
}

/** A file that is not a workbook, or a defect in a part of one. */
export class MalformedWorkbook extends Error {
  override readonly name = 'MalformedWorkbook';
}
