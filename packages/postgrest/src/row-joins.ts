import type { JoinedRows } from '@pgway/core';
import type { ResponseMedia } from './media.ts';
import { maxResponseSize, responseAboveLimit } from './write-result.ts';
import { csvLine } from './write-response.ts';

const limit = { maxBytes: maxResponseSize, tooLarge: responseAboveLimit };
const nothing = Buffer.alloc(0);
const comma = Buffer.from(',');
const commaAndBlank = Buffer.from(', ');
const lineEnd = Buffer.from('\n');
/** With the separators of `json_agg`. */
const array: JoinedRows = {
  ...limit,
  open: Buffer.from('['),
  separator: Buffer.from(', \n '),
  close: Buffer.from(']'),
};
const object: JoinedRows = { ...limit, open: nothing, separator: comma, close: nothing };

/**
 * Returns the bytes before, between and after the texts of rows, and the limit of a response.
 * @param names the columns of the rows
 */
export function joinsOf({ shape, stripsNulls }: ResponseMedia, names: readonly string[]): JoinedRows {
  if (shape === 'csv')
    return { ...limit, open: Buffer.from(`${csvLine(names)}\n`), separator: lineEnd, close: nothing };
  if (shape === 'object' || shape === 'row') return object;
  if (stripsNulls) return { ...array, separator: comma };
  return names.length === 0 ? { ...array, separator: commaAndBlank } : array;
}
