import { type ResultColumn, Problem } from '@pgway/core';
import { excelFormat } from '@pgway/excel';
import { expect, test } from 'vitest';
import { readWithOwnReader } from './read-workbook.ts';

/** Workbooks with as many rows as a sheet can have. */

const columns = [
  { name: 'i', key: 'i', type: { builtin: 'int4', json: 'number' } },
  { name: 'label', key: 'label', type: { builtin: 'text', json: 'string' } },
] as unknown as readonly ResultColumn[];

/** Writes the rows. @returns the bytes, and the most rows without any of them */
function writeRows(count: number): { readonly bytes: Buffer; readonly mostRows: number } {
  const pieces: Buffer[] = [];
  let [rows, mostRows] = [0, 0];
  const out = {
    append: (bytes: Uint8Array): void => {
      pieces.push(Buffer.from(bytes));
      rows = 0;
    },
  };
  const document = excelFormat().compile(columns)('Rows');
  for (let row = 1; row <= count; row++) {
    document.row(out, [Buffer.from(String(row)), Buffer.from(`row ${row}`)]);
    mostRows = Math.max(mostRows, ++rows);
  }
  document.end(out);
  return { bytes: Buffer.concat(pieces), mostRows };
}

test('rows leave the document in pieces', async () => {
  const { bytes, mostRows } = writeRows(100_000);
  expect(mostRows).toBeLessThan(2000);
  const { rows } = await readWithOwnReader(bytes);
  expect(rows.length).toBe(100_001);
  expect(rows.at(-1)).toEqual([100_000, 'row 100000']);
});

test('a sheet has 1,048,576 rows, and no more', () => {
  expect(() => writeRows(1_048_575)).not.toThrow();
  const tooMany = (): unknown => writeRows(1_048_576);
  expect(tooMany).toThrow(Problem);
  expect(tooMany).toThrow(
    'A sheet of Excel has 1,048,576 rows, one of them the headings, and the result has more; ask for text/csv, or for application/x-ndjson, by the header Accept, or ask for fewer rows.',
  );
});
