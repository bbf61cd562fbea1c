import { MalformedWorkbook, type WorkbookUsage } from './limits.ts';
import { encodeText } from './opaque-text.ts';
import type { ElementRule, XmlAttributes } from './xml-filter.ts';

// ECMA-376 part 1, chapter 18: the elements of a workbook that hold its values. Formulas are dropped, so that their results are read.

export const relationshipRules: ElementRule = {
  children: {
    Relationships: { children: { Relationship: { attributes: ['Id', 'Type', 'Target', 'TargetMode'] } } },
  },
};

export const styleRules: ElementRule = {
  children: {
    styleSheet: {
      children: {
        numFmts: { children: { numFmt: { attributes: ['numFmtId', 'formatCode'] } } },
        cellXfs: { children: { xf: { attributes: ['numFmtId'] } } },
      },
    },
  },
};

const text: ElementRule = { isTransparent: true, text: (value) => encodeText(unescapeText(value)) };
/** Plain text, or runs of formatted text. Phonetic text is dropped. */
const textChildren: Readonly<Record<string, ElementRule>> = {
  t: text,
  r: { isTransparent: true, children: { t: text } },
};

export const sharedStringRules: ElementRule = {
  children: { sst: { children: { si: { inner: 't', children: textChildren } } } },
};

export function workbookRules(usage: WorkbookUsage): ElementRule {
  const open = (attributes: XmlAttributes): XmlAttributes => {
    usage.add('maxSheets', 1);
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
  readonly #sharedStrings: number;
  #row = 0;
  #column = 0;
  #type = 'n';

  constructor(usage: WorkbookUsage, sharedStrings: number) {
    this.#usage = usage;
    this.#sharedStrings = sharedStrings;
  }

  get rules(): ElementRule {
    const cell: ElementRule = {
      attributes: ['r', 's', 't'],
      open: (attributes) => this.#openCell(attributes),
      children: {
        v: { text: (value) => this.#passValue(value) },
        is: { inner: 't', children: textChildren },
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
    if (Number.isNaN(readInteger(s))) throw new MalformedWorkbook(`has a cell of the style ${quote(s)}`);
    // The reader knows no ISO 8601 dates: they stay text.
    return { r: `${columnName(column)}${this.#row}`, t: t === 'd' ? 'str' : t, s };
  }

  #readColumn(address: string): number {
    const [, letters = '', row = ''] = /^([A-Za-z]{1,3})(\d{1,7})$/.exec(address) ?? [];
    return Number(row) === this.#row ? columnNumber(letters.toUpperCase()) : Number.NaN;
  }

  #passValue(value: string): string {
    switch (this.#type) {
      case 's':
        if (!(readInteger(value.trim()) < this.#sharedStrings))
          throw new MalformedWorkbook(`has no shared text ${quote(value)}`);
        return value.trim();
      case 'b':
        return value === '1' || value.toLowerCase() === 'true' ? '1' : '0';
      case 'n':
        if (!Number.isFinite(Number(value))) throw new MalformedWorkbook(`has a number ${quote(value)}`);
        return value;
      case 'e':
        return value;
      default:
        return encodeText(unescapeText(value));
    }
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
