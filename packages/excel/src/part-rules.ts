import { MalformedWorkbook, tooLarge, type WorkbookUsage } from './limits.ts';
import { encodeText } from './opaque-text.ts';
import type { ElementRule, XmlAttributes } from './xml-filter.ts';

// ECMA-376 part 1, chapter 18: the elements of a workbook that hold its values. Formulas are dropped, so that their results are read.

/** The reader keeps these elements in memory, with more bytes than they have in the file. */
const maxRelationships = 10_000;
/** Excel has at most 65,490 cell styles. */
const maxStyles = 65_536;
/** The limit of Excel, in UTF-16 code units. The reader examines the code of a format for each cell, in quadratic time. */
const maxFormatLength = 255;
/** Code units of the values of one row, as many as a record of CSV has bytes. */
const maxRowLength = 1024 * 1024;
/** Each row command gets the name. Excel itself allows 31 characters. */
const maxSheetName = 255;

const relationship: ElementRule = {
  attributes: ['Id', 'Type', 'Target', 'TargetMode'],
  maxCount: maxRelationships,
};

export const relationshipRules: ElementRule = {
  children: { Relationships: { children: { Relationship: relationship } } },
};

const numberFormat: ElementRule = {
  attributes: ['numFmtId', 'formatCode'],
  maxCount: maxStyles,
  open: (attributes) => {
    const { formatCode = '' } = attributes;
    if (formatCode.length <= maxFormatLength) return attributes;
    throw tooLarge(`a number format of more than ${maxFormatLength} characters`);
  },
};

export const styleRules: ElementRule = {
  children: {
    styleSheet: {
      children: {
        numFmts: { children: { numFmt: numberFormat } },
        cellXfs: { children: { xf: { attributes: ['numFmtId'], maxCount: maxStyles } } },
      },
    },
  },
};

/** Plain text, or runs of formatted text. Phonetic text is dropped. */
function textChildren(pass: (text: string) => string): Readonly<Record<string, ElementRule>> {
  const text: ElementRule = { isTransparent: true, text: pass };
  return { t: text, r: { isTransparent: true, children: { t: text } } };
}

export const sharedStringRules: ElementRule = {
  children: { sst: { children: { si: { inner: 't', children: textChildren(passText) } } } },
};

function passText(text: string): string {
  return encodeText(unescapeText(text));
}

export function workbookRules(usage: WorkbookUsage): ElementRule {
  const open = (attributes: XmlAttributes): XmlAttributes => {
    usage.add('maxSheets', 1);
    if ((attributes['name'] ?? '').length > maxSheetName)
      throw tooLarge(`a sheet whose name has more than ${maxSheetName} characters`);
    return attributes;
  };
  const sheet: ElementRule = { attributes: ['name', 'sheetId', 'state', 'r:id'], open };
  return {
    children: {
      workbook: { children: { workbookPr: { attributes: ['date1904'] }, sheets: { children: { sheet } } } },
    },
  };
}

/** The largest sheet of Excel. */
const lastRow = 1_048_576;
const lastColumn = 16_384;
const cellTypes: readonly string[] = ['n', 's', 'str', 'inlineStr', 'b', 'e', 'd'];

/** The rules of one sheet. Row numbers and cell addresses that a file leaves out are added. */
export class SheetRules {
  readonly #usage: WorkbookUsage;
  readonly #sharedStrings: readonly string[];
  #rowLength = 0;
  #row = 0;
  #column = 0;
  #type = 'n';
  #hasValue = false;

  constructor(usage: WorkbookUsage, sharedStrings: readonly string[]) {
    this.#usage = usage;
    this.#sharedStrings = sharedStrings;
  }

  get rules(): ElementRule {
    const cell: ElementRule = {
      attributes: ['r', 's', 't'],
      open: (attributes) => this.#openCell(attributes),
      children: {
        v: { text: (value) => this.#passValue(value) },
        is: { inner: 't', children: textChildren((text) => this.#passText(text)) },
      },
    };
    const row: ElementRule = {
      attributes: ['r'],
      open: (attributes) => this.#openRow(attributes),
      children: { c: cell },
    };
    return { children: { worksheet: { children: { sheetData: { children: { row } } } } } };
  }

  #openRow({ r }: XmlAttributes): XmlAttributes {
    const number = r === undefined ? this.#row + 1 : readInteger(r);
    if (!(number > this.#row && number <= lastRow))
      throw new MalformedWorkbook(`has a row with the number ${quote(r)}`);
    this.#row = number;
    this.#column = 0;
    this.#rowLength = 0;
    this.#usage.add('maxRows', 1);
    return { r: String(number) };
  }

  #openCell({ r, s = '0', t = 'n' }: XmlAttributes): XmlAttributes {
    const column = r === undefined ? this.#column + 1 : this.#readColumn(r);
    if (!(column > this.#column && column <= lastColumn))
      throw new MalformedWorkbook(`has a cell with the address ${quote(r)}`);
    if (!cellTypes.includes(t)) throw new MalformedWorkbook(`has a cell of the type ${quote(t)}`);
    // A row is as long as its last cell.
    this.#usage.add('maxCells', column - this.#column);
    this.#column = column;
    this.#type = t;
    this.#hasValue = false;
    if (Number.isNaN(readInteger(s))) throw new MalformedWorkbook(`has a cell of the style ${quote(s)}`);
    // The reader knows no ISO 8601 dates: they stay text.
    return { r: `${columnName(column)}${this.#row}`, t: t === 'd' ? 'str' : t, s };
  }

  #readColumn(address: string): number {
    const [, letters = '', row = ''] = /^([A-Za-z]{1,3})(\d{1,7})$/.exec(address) ?? [];
    return Number(row) === this.#row ? columnNumber(letters.toUpperCase()) : Number.NaN;
  }

  #passText(text: string): string {
    this.#addLength(text.length);
    return passText(text);
  }

  /** The reader collects the cells of a row in memory. */
  #addLength(length: number): void {
    this.#rowLength += length;
    if (this.#rowLength > maxRowLength)
      throw new MalformedWorkbook(`has a row with more than ${maxRowLength} characters`);
  }

  #passValue(value: string): string {
    if (this.#hasValue) throw new MalformedWorkbook('has a cell with two values');
    this.#hasValue = true;
    if (this.#type !== 's') this.#addLength(value.length);
    switch (this.#type) {
      case 's':
        return this.#passSharedText(value);
      case 'b':
        return value === '1' || value.toLowerCase() === 'true' ? '1' : '0';
      case 'n':
        if (!Number.isFinite(Number(value))) throw new MalformedWorkbook(`has a number ${quote(value)}`);
        return value;
      case 'e':
        return value;
      default:
        return passText(value);
    }
  }

  #passSharedText(value: string): string {
    const index = value.trim();
    const text = this.#sharedStrings[readInteger(index)];
    if (text === undefined) throw new MalformedWorkbook(`has no shared text ${quote(value)}`);
    this.#addLength(text.length);
    return index;
  }
}

/** Returns NaN for a text that is not an integer. */
function readInteger(value: string): number {
  return /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
}

export function columnName(column: number): string {
  const rest = Math.floor((column - 1) / 26);
  return `${rest === 0 ? '' : columnName(rest)}${String.fromCharCode(65 + ((column - 1) % 26))}`;
}

function columnNumber(letters: string): number {
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

/** Replaces `_xHHHH_`, by which Excel writes characters that XML does not have. PostgreSQL has no NUL. */
function unescapeText(value: string): string {
  if (!value.includes('_x')) return value;
  return value.replace(/_x([0-9a-f]{4})_/gi, (escape, code: string) =>
    code === '0000' ? escape : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function quote(value = ''): string {
  return JSON.stringify(value.slice(0, 40));
}
