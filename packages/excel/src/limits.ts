import { Problem } from '@pgway/core';
import type { ExcelLimits } from './options.ts';

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
    throw tooLarge(`more than ${max} ${units[limit]} (${limit})`);
  }
}

/** Returns the problem (413) of a workbook that has more than is read. */
export function tooLarge(what: string): Problem {
  return new Problem('body-too-large', { detail: `The workbook has ${what}.` });
}

/** A file that is not a workbook, or a defect in a part of one. */
export class MalformedWorkbook extends Error {
  override readonly name = 'MalformedWorkbook';
}
