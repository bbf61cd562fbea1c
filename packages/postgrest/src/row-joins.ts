import type { JoinedRows } from '@pgway/core';
import type { ResponseMedia } from './media.ts';
import { csvLine } from './write-response.ts';

/** The bytes before, between and after the texts of rows. */
export type Joins = Pick<JoinedRows, 'open' | 'separator' | 'close'>;

const nothing = Buffer.alloc(0);
const comma = Buffer.from(',');
const commaAndBlank = Buffer.from(', ');
const lineEnd = Buffer.from('\n');
/** With the separators of `json_agg`. */
const array: Joins = { open: Buffer.from('['), separator: Buffer.from(', \n '), close: Buffer.from(']') };

/** @param names the columns of the rows */
export function joinsOf({ shape, stripsNulls }: ResponseMedia, names: readonly string[]): Joins {
  if (shape === 'csv') return { open: Buffer.from(`${csvLine(names)}\n`), separator: lineEnd, close: nothing };
  if (shape === 'object') return { open: nothing, separator: comma, close: nothing };
  if (stripsNulls) return { ...array, separator: comma };
  return names.length === 0 ? { ...array, separator: commaAndBlank } : array;
}
