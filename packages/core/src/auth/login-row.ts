import type { Value } from '../postgres/port.ts';
import { arrayTexts } from '../http/json-reader.ts';
import type { EndpointParameter, ResultColumn } from '../endpoints/endpoint.ts';
import type { Claim } from '../ports/ports.ts';

/** A row of a login or logout routine, in PostgreSQL's text form. */
export type LoginRow = readonly (string | null)[];

/** Returns the values of a column as text: none for NULL, one per element of an array. */
export function columnValues({ type }: ResultColumn, text: string | null): readonly string[] {
  if (text === null) return [];
  if (type.element !== undefined && type.json === 'converted') return arrayTexts(text);
  if (type.json === 'boolean') return [text === 't' ? 'true' : 'false'];
  return [text];
}

/** Returns the claims of the row: the values of every column except the control columns, under the column's name. */
export function rowClaims(
  columns: readonly ResultColumn[],
  row: LoginRow,
  controlColumns: ReadonlySet<number>,
): readonly Claim[] {
  return columns.flatMap((column, index) =>
    controlColumns.has(index)
      ? []
      : columnValues(column, row[index] ?? null).map((value): Claim => [column.name, value]),
  );
}

/** Returns the row as a JSON object, without the column of the password hash. */
export function rowAsJson(columns: readonly ResultColumn[], row: LoginRow, hashColumn: number | null): string {
  const members = columns.flatMap((column, index) =>
    index === hashColumn ? [] : [`${JSON.stringify(column.key)}:${valueAsJson(column, row[index] ?? null)}`],
  );
  return `{${members.join(',')}}`;
}

function valueAsJson(column: ResultColumn, text: string | null): string {
  if (text === null) return 'null';
  switch (column.type.json) {
    case 'number':
      return /^-?[\d.]/.test(text) ? text : JSON.stringify(text);
    case 'boolean':
      return columnValues(column, text)[0]!;
    case 'json':
    case 'converted':
      return text;
    case 'timestamp':
    case 'timestamptz':
      return JSON.stringify(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
    case 'numberText':
    case 'string':
      return JSON.stringify(text);
  }
}

/** The key of all unusual spellings of an integer or a uuid, so that none of them counts as a new user. */
const unusualSpelling = 'unusual spelling';

/**
 * Returns one spelling of a value that names a user, as the key of the login rate limit; null for NULL. PostgreSQL reads the same
 * integer from `7`, `007` and `0x7`, and the same uuid with and without hyphens.
 */
export function normalizeUser(value: Value, { type }: Pick<EndpointParameter, 'type'>): string | null {
  if (typeof value !== 'string') return null;
  if (type.textual) return value;
  const text = value.trim();
  if (type.builtin !== 'uuid') {
    return /^[+-]?\d{1,40}$/.test(text) ? String(BigInt(text.replace('+', ''))) : unusualSpelling;
  }
  const digits = text.replaceAll(/[{}-]/g, '').toLowerCase();
  return /^[\da-f]{32}$/.test(digits) ? digits : unusualSpelling;
}
