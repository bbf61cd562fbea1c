import type { ResultColumn } from '../../endpoints/endpoint.ts';
import { valuesOf } from './signed-row.ts';

/** The row as a JSON object, without the hash of its password, which is nobody's business. */
export function recordAsJson(
  columns: readonly ResultColumn[],
  row: readonly (string | null)[],
  hash: number | null,
): string {
  const members = columns.flatMap((column, index) =>
    index === hash ? [] : [`${JSON.stringify(column.key)}:${valueAsJson(column, row[index] ?? null)}`],
  );
  return `{${members.join(',')}}`;
}

function valueAsJson(column: ResultColumn, text: string | null): string {
  if (text === null) return 'null';
  switch (column.type.json) {
    case 'number':
      return /^-?[\d.]/.test(text) ? text : JSON.stringify(text);
    case 'boolean':
      return valuesOf(column, text)[0]!;
    case 'json':
    case 'converted':
      return text;
    case 'timestamp':
    case 'timestamptz':
      return JSON.stringify(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
    case 'string':
      return JSON.stringify(text);
  }
}
