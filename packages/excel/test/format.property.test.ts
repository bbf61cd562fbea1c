import type { ResultColumn } from '@pgway/core';
import { excelFormat } from '@pgway/excel';
import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import type { CellValue } from '../src/workbook.ts';
import { readWithLibrary, readWithOwnReader } from './read-workbook.ts';
import { codePoint } from '../../core/test/support/code-point.ts';

/** Any rows of values come back from two readers with their types. */

const types = ['int4', 'int8', 'numeric', 'float8', 'bool', 'date', 'timestamp', 'timestamptz', 'text'] as const;
const columns = types.map((builtin) => ({
  name: builtin,
  key: builtin,
  type: { builtin, json: 'string' },
})) as unknown as readonly ResultColumn[];

/** PostgreSQL's text, and the value in the workbook. */
type Case = readonly [text: string, value: CellValue] | null;

const asText = (text: string): Case => [text, text];
const asNumber = (text: string): Case => [text, Number(text)];
const pad = (value: number, length: number): string => String(value).padStart(length, '0');

const integer = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map((value) => asNumber(String(value)));
const digits = fc.stringMatching(/^-?[1-9]\d{0,17}$/);
const bigint = digits.map((text) => (text.replace('-', '').length > 15 ? asText(text) : asNumber(text)));
const decimal = fc
  .tuple(fc.constantFrom('', '-'), fc.nat(99_999), fc.stringMatching(/^\d{1,14}$/))
  .map(([sign, whole, fraction]) => {
    const text = `${sign}${whole}.${fraction}`;
    const significant = text.replaceAll(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
    return significant.length > 15 ? asText(text) : asNumber(text);
  });
const numeric = fc.oneof(bigint, decimal, fc.constantFrom('NaN', 'Infinity', '-Infinity').map(asText));
const float = fc.oneof(
  fc
    .double({ noDefaultInfinity: true, noNaN: true, min: -9e307, max: 9e307 })
    .filter((value) => value === 0 || Math.abs(value) > 2.3e-308)
    .map((value) => asNumber(Object.is(value, -0) ? '0' : String(value))),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', '1e+308', '5e-324').map(asText),
);
const boolean = fc.boolean().map((value): Case => [value ? 't' : 'f', value]);
const day = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  .map((date) => new Date(Math.floor(date.getTime() / 1000) * 1000));
const first = Date.UTC(1900, 2, 1);
const date = fc.oneof(
  day.map((value): Case => {
    const text = value.toISOString().slice(0, 10);
    return [text, Date.parse(text) < first ? text : new Date(text)];
  }),
  fc
    .constantFrom('infinity', '-infinity', '10000-01-01', '0044-03-15 BC', '0001-01-01', '0099-12-31', '0100-01-01')
    .map(asText),
);
const timestampText = (value: Date): string => value.toISOString().slice(0, 19).replace('T', ' ');
const timestamp = fc.oneof(
  day.map((value): Case => [timestampText(value), value.getTime() < first ? timestampText(value) : value]),
  fc.constantFrom('infinity', '0044-03-15 12:00:00 BC', '0001-01-01 00:00:00', '0099-12-31 23:59:59').map(asText),
);
const timestamptz = fc
  .tuple(day, fc.integer({ min: -12, max: 14 }), fc.constantFrom('', ':30'))
  .map(([value, hours, minutes]): Case => {
    const text = `${timestampText(value)}${hours < 0 ? '-' : '+'}${pad(Math.abs(hours), 2)}${minutes}`;
    return [text, value.getTime() < first ? text : value];
  });
/** An escape without its last underscore, before a character that XML cannot contain, or one that it can. */
const cutEscape = fc
  .tuple(
    fc.stringMatching(/^[_a]{0,2}_x[\dA-Fa-f]{4}$/),
    fc.constantFrom('\u0001', '\r', '\uFFFE', '_', '\t', 'a'),
    fc.string(),
  )
  .map((parts) => parts.join(''));
const text = fc
  .oneof(
    cutEscape,
    fc.string({ unit: codePoint, maxLength: 30 }).map((value) => value.replaceAll('\0', '')),
    fc.constantFrom(
      '=1+1',
      '+1',
      '-1',
      '@A1',
      '\t=1',
      '_x0041_',
      'a_x000D_b',
      '\uFFFE\uFFFF',
      '<&>"\'',
      ' a ',
      'a\r\nb',
    ),
    fc.constantFrom('001', '1e5', 'TRUE', '2024-01-01', '_x', '__x0000_', '\u001F\u0001'),
  )
  // A library cannot tell an empty text from a cell without a value.
  .filter((value) => value !== '')
  .map(asText);

const row = fc.tuple(
  ...[integer, bigint, numeric, float, boolean, date, timestamp, timestamptz, text].map((value: fc.Arbitrary<Case>) =>
    fc.option(value, { freq: 6 }),
  ),
);

function writeWorkbook(rows: readonly (readonly Case[])[]): Buffer {
  const pieces: Buffer[] = [];
  const out = { append: (bytes: Uint8Array): void => void pieces.push(Buffer.from(bytes)) };
  const document = excelFormat().compile(columns)('Values');
  for (const each of rows) {
    document.row(
      out,
      each.map((value) => (value === null ? null : Buffer.from(value[0]))),
    );
  }
  document.end(out);
  return Buffer.concat(pieces);
}

/** Rows without cells at the end that have no value, and without times below a millisecond. */
function normalize(rows: readonly (readonly CellValue[])[]): unknown {
  return rows.map((values) => {
    const cells = values.map((value) =>
      value instanceof Date ? new Date(Math.round(value.getTime() / 1000) * 1000) : value,
    );
    while (cells.at(-1) === null) cells.pop();
    return cells;
  });
}

test('values have their types in two readers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const bytes = writeWorkbook(rows);
      const expected = [
        [...types],
        ...(normalize(rows.map((each) => each.map((value) => value?.[1] ?? null))) as unknown[]),
      ];
      const own = await readWithOwnReader(bytes);
      expect(own.name).toBe('Values');
      const full = Array.from({ length: expected.length }, (_, index) => own.rows[index] ?? []);
      expect(normalize(full)).toEqual(expected);
      const other = await readWithLibrary(bytes);
      const others = Array.from({ length: expected.length }, (_, index) => other.rows[index] ?? []);
      expect(normalize(others)).toEqual(expected);
    }),
    { numRuns: Math.max(5, Math.round(300 * inject('caseFactor'))) },
  );
});
