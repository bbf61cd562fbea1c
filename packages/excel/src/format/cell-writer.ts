import type { ResultColumn } from '@pgway/core';
import { parseDate, parseTime, parseTimestamp } from './serial-date.ts';
import { styles } from './styles.ts';
import type { XmlBuffer } from './xml-buffer.ts';

/** Writes the cells of a column. */
export interface CellWriter {
  /**
   * @param row the digits of the number of the row
   * @returns false for a text that is longer than a cell
   */
  readonly writer: (xml: XmlBuffer, row: Uint8Array, value: Uint8Array) => boolean;
  /** The width of all values, in characters; null: it depends on the value. */
  readonly width: number | null;
}

const numberStart = Buffer.from('"><v>');
const booleanStart = Buffer.from('" t="b"><v>');
const valueEnd = Buffer.from('</v></c>');
const textStart = Buffer.from('" t="inlineStr"><is><t xml:space="preserve">');
/** For text that Excel would read as a formula when a user edits it. */
const quotedStart = Buffer.from(`" s="${styles.quoted}" t="inlineStr"><is><t xml:space="preserve">`);
const textEnd = Buffer.from('</t></is></c>');
const one = Buffer.from('1');
const zero = Buffer.from('0');

type Write = CellWriter['writer'];

/** Writes the reference of a cell and what follows it. */
type Begin = (xml: XmlBuffer, row: Uint8Array, rest: Uint8Array) => void;

/** @param index of the column, from 0 */
export function createCellWriter({ type }: ResultColumn, index: number): CellWriter {
  const start = Buffer.from(`<c r="${columnName(index)}`);
  const begin: Begin = (xml, row, rest) => {
    xml.append(start);
    xml.append(row);
    xml.append(rest);
  };
  const text = textWriter(begin);
  switch (type.builtin) {
    case 'int2':
    case 'int4':
      return { writer: numberWriter(begin, text, () => true), width: null };
    case 'int8':
    case 'numeric':
      return { writer: numberWriter(begin, text, isExactNumber), width: null };
    case 'float4':
    case 'float8':
      return { writer: numberWriter(begin, text, isFloat), width: null };
    case 'bool':
      return { writer: booleanWriter(begin), width: 5 };
    case 'date':
      return { writer: serialWriter(begin, text, { parse: parseDate, style: styles.date }), width: 10 };
    case 'timestamp':
    case 'timestamptz':
      return { writer: serialWriter(begin, text, { parse: parseTimestamp, style: styles.timestamp }), width: 19 };
    case 'time':
      return { writer: serialWriter(begin, text, { parse: parseTime, style: styles.time }), width: 8 };
    default:
      return { writer: text, width: null };
  }
}

function textWriter(begin: Begin): Write {
  return (xml, row, value) => {
    begin(xml, row, beginsFormula(value) ? quotedStart : textStart);
    const fits = xml.cellText(value);
    xml.append(textEnd);
    return fits;
  };
}

function booleanWriter(begin: Begin): Write {
  return (xml, row, value) => {
    begin(xml, row, booleanStart);
    xml.append(value[0] === 0x74 ? one : zero);
    xml.append(valueEnd);
    return true;
  };
}

function numberWriter(begin: Begin, writeText: Write, isNumber: (value: Uint8Array) => boolean): Write {
  return (xml, row, value) => {
    if (!isNumber(value)) return writeText(xml, row, value);
    begin(xml, row, numberStart);
    xml.append(value);
    xml.append(valueEnd);
    return true;
  };
}

interface SerialForm {
  /** Returns the serial number; null: the value is text. */
  readonly parse: (text: string) => number | null;
  readonly style: number;
}

function serialWriter(begin: Begin, writeText: Write, { parse, style }: SerialForm): Write {
  const serialStart = Buffer.from(`" s="${style}"><v>`);
  return (xml, row, value) => {
    const serial = parse(latin1(value));
    if (serial === null) return writeText(xml, row, value);
    begin(xml, row, serialStart);
    xml.text(String(serial));
    xml.append(valueEnd);
    return true;
  };
}

/** Returns the letters of a column: A to Z, AA to XFD. */
export function columnName(index: number): string {
  const letter = String.fromCharCode(0x41 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}

function latin1(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1');
}

function beginsFormula(value: Uint8Array): boolean {
  const first = value[0];
  // = + - @, and the blanks before them that Excel removes.
  return first === 0x3d || first === 0x2b || first === 0x2d || first === 0x40 || first === 0x09 || first === 0x0d;
}

/** Significant digits that Excel keeps. */
const maxDigits = 15;
/** Characters of the text of a number that is certainly in the range of a double. */
const maxNumberLength = 300;

/** Returns whether Excel keeps all digits of PostgreSQL's text of an integer or `numeric`. */
function isExactNumber(value: Uint8Array): boolean {
  const { length } = value;
  if (length <= maxDigits) return value[length - 1]! <= 0x39;
  if (length > maxNumberLength) return false;
  let digits = 0;
  let trailing = 0;
  let isFraction = false;
  for (const byte of value) {
    if (byte === 0x2e) isFraction = true;
    else if (byte >= 0x30 && byte <= 0x39) {
      if (digits === 0 && byte === 0x30) continue;
      digits++;
      trailing = isFraction && byte === 0x30 ? trailing + 1 : 0;
    } else if (byte !== 0x2d) return false;
  }
  return digits - trailing <= maxDigits;
}

/** The smallest and largest positive numbers of Excel. */
const [minNumber, maxNumber] = [2.2251e-308, 9.99999999999999e307];

/** Returns whether PostgreSQL's text of a floating-point number is a number of Excel: finite, and in its range. */
function isFloat(value: Uint8Array): boolean {
  // Only exponents, `NaN` and `Infinity` are letters.
  if (value.every((byte) => byte <= 0x39)) return true;
  const size = Math.abs(Number(latin1(value)));
  return size === 0 || (size >= minNumber && size <= maxNumber);
}
