import { Problem, type ResultColumn, type RowDocument, type RowFormat } from '@pgway/core';
import { type CellWriter, createCellWriter } from './cell-writer.ts';
import { packageParts, sheetHead, sheetTail } from './parts.ts';
import { sheetName } from './sheet-name.ts';
import { XmlBuffer } from './xml-buffer.ts';
import { ZipOutput } from './zip-output.ts';

/** Rows of a sheet, the headings included. */
const maxRows = 1_048_576;
/** Bytes of XML that are compressed at once, with at most one cell more. Rows that begin in the first piece are the sample for the widths of columns. */
const pieceBytes = 128 * 1024;
/** Characters of a column. */
const [minWidth, maxWidth] = [8, 60];

/**
 * Creates the format that sends rows as a workbook (.xlsx) to clients that ask for `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`. A workbook
 * is written while its rows arrive.
 */
export function excelFormat(): RowFormat {
  return {
    name: 'excel',
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    extension: '.xlsx',
    compile: (columns) => {
      const writers = columns.map((column, index) => createCellWriter(column, index));
      return (title) => new SheetDocument(columns, writers, sheetName(title));
    },
  };
}

class SheetDocument implements RowDocument {
  readonly #columns: readonly ResultColumn[];
  readonly #writers: readonly CellWriter[];
  readonly #sheet: string;
  /** The XML of cells that is not compressed yet. */
  readonly #xml = new XmlBuffer(pieceBytes);
  /** Null until the first piece is complete. */
  #zip: ZipOutput | null = null;
  /** The widths of the values in the rows of the first piece, in characters. */
  readonly #widths: number[];
  #row = 1;

  constructor(columns: readonly ResultColumn[], writers: readonly CellWriter[], sheet: string) {
    this.#columns = columns;
    this.#writers = writers;
    this.#sheet = sheet;
    this.#widths = columns.map(({ key }) => key.length);
  }

  row(out: Parameters<RowDocument['row']>[0], values: readonly (Uint8Array | null)[]): void {
    const xml = this.#xml;
    const row = ++this.#row;
    if (row > maxRows) throw tooManyRows();
    if (this.#zip === null) this.#measure(values);
    const number = xml.beginRow(row);
    for (let index = 0; index < this.#writers.length; index++) {
      const value = values[index] ?? null;
      if (value === null) continue;
      if (!this.#writers[index]!.writer(xml, number, value)) throw tooLongText(this.#columns[index]!, row - 1);
      // One row can have hundreds of cells of 32,767 characters.
      if (xml.length >= pieceBytes) this.#compress(out);
    }
    xml.endRow();
    // A row of NULLs has no cells.
    if (xml.length >= pieceBytes) this.#compress(out);
  }

  end(out: Parameters<RowDocument['end']>[0]): void {
    this.#compress(out);
    this.#xml.text(sheetTail);
    const zip = this.#zip!;
    zip.write(out, this.#xml.take());
    zip.end(out);
  }

  #measure(values: readonly (Uint8Array | null)[]): void {
    for (const [index, value] of values.entries()) {
      if (value !== null)
        this.#widths[index] = Math.max(this.#widths[index]!, this.#writers[index]!.width ?? value.length);
    }
  }

  #compress(out: Parameters<RowDocument['row']>[0]): void {
    const cells = this.#xml.take();
    this.#zip ??= this.#open(out);
    this.#zip.write(out, cells);
  }

  #open(out: Parameters<RowDocument['row']>[0]): ZipOutput {
    const zip = new ZipOutput();
    for (const [name, content] of packageParts(this.#sheet)) zip.addFile(out, name, content);
    zip.begin('xl/worksheets/sheet1.xml');
    const widths = this.#widths.map((width) => Math.min(maxWidth, Math.max(minWidth, width)) + 2);
    const keys = this.#columns.map(({ key }) => key);
    zip.write(out, sheetHead(keys, widths));
    return zip;
  }
}

const otherFormats = 'ask for text/csv, or for application/x-ndjson, by the header Accept';

function tooManyRows(): Problem {
  return new Problem('unrepresentable-rows', {
    detail: `A sheet of Excel has ${maxRows.toLocaleString('en')} rows, one of them the headings, and the result has more; ${otherFormats}, or ask for fewer rows.`,
  });
}

function tooLongText({ key }: ResultColumn, row: number): Problem {
  return new Problem('unrepresentable-rows', {
    detail: `The value of "${key}" in row ${row} is longer than 32,767 characters, the limit of a cell of Excel; ${otherFormats}.`,
    members: { column: key, row },
  });
}
