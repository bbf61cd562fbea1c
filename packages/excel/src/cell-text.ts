import { columnName } from './part-rules.ts';
import type { CellValue, SheetRow } from './workbook.ts';

/** Patterns of the tokens `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss` and `fff`. */
export interface DateFormats {
  readonly time: string;
  readonly date: string;
  readonly datetime: string;
}

const day = 24 * 60 * 60 * 1000;
/** Times without a date are on the day 0 of their workbook, which is the first of 1904 or the one before 1900 begins. */
const dayZero: readonly number[] = [Date.UTC(1899, 11, 30), Date.UTC(1904, 0, 1)];

/** Returns the values by position; null: no value. */
export function toFields({ cells }: SheetRow, formats: DateFormats): (string | null)[] {
  const fields: (string | null)[] = [];
  for (const [column, value] of cells) {
    while (fields.length < column - 1) fields.push(null);
    fields.push(toText(value, formats));
  }
  return fields;
}

/** Returns an object by cell address. Numbers and boolean values keep their types. */
export function toJsonObject({ number, cells }: SheetRow, formats: DateFormats): string {
  const members: Record<string, string | number | boolean | null> = {};
  for (const [column, value] of cells) {
    members[`${columnName(column)}${number}`] = value instanceof Date ? formatDate(value, formats) : value;
  }
  return JSON.stringify(members);
}

function toText(value: CellValue, formats: DateFormats): string | null {
  if (value === null) return null;
  return value instanceof Date ? formatDate(value, formats) : String(value);
}

function formatDate(value: Date, { time, date, datetime }: DateFormats): string {
  const milliseconds = value.getTime();
  const timeOfDay = ((milliseconds % day) + day) % day;
  const pattern = dayZero.includes(milliseconds - timeOfDay) ? time : timeOfDay === 0 ? date : datetime;
  const text = value.toISOString();
  const end = text.indexOf('T');
  const tokens: Record<string, string> = {
    yyyy: text.slice(0, end - 6),
    MM: text.slice(end - 5, end - 3),
    dd: text.slice(end - 2, end),
    HH: text.slice(end + 1, end + 3),
    mm: text.slice(end + 4, end + 6),
    ss: text.slice(end + 7, end + 9),
    fff: text.slice(end + 10, end + 13),
  };
  return pattern.replace(/yyyy|MM|dd|HH|mm|ss|fff/g, (token) => tokens[token]!);
}
