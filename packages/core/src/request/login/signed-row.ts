import type { RowSink } from '../../postgres/port.ts';
import type { ResultColumn } from '../../endpoints/endpoint.ts';
import { arrayTexts } from '../../http/json-reader.ts';
import type { Claim } from '../../ports/ports.ts';
import { fieldsOf } from '../../response/rows.ts';

/** A row as PostgreSQL's text. */
export type TextRow = readonly (string | null)[];

/** Far more than a sign-in has to say. */
const mostRows = 100;

/** Keeps the texts of a routine's rows on their way to the answer. */
export class TextRows implements RowSink {
  readonly #next: Required<RowSink>;
  readonly rows: TextRow[] = [];

  constructor(next: Required<RowSink>) {
    this.#next = next;
  }

  row(chunk: Uint8Array, offset: number, fields: number): boolean {
    if (this.rows.length < mostRows) {
      this.rows.push(
        fieldsOf(chunk, offset, fields).map((field) => (field === null ? null : Buffer.from(field).toString())),
      );
    }
    return this.#next.row(chunk, offset, fields);
  }

  chunkEnd(): boolean {
    return this.#next.chunkEnd();
  }
}

/** The values of a column as text: none for NULL, one for each element of an array. */
export function valuesOf({ type }: ResultColumn, text: string | null): readonly string[] {
  if (text === null) return [];
  if (type.element !== undefined && type.json === 'converted') return arrayTexts(text);
  if (type.json === 'boolean') return [text === 't' ? 'true' : 'false'];
  return [text];
}

/** What the row says of the caller: every column that does not steer the sign-in is a claim of its name. */
export function claimsOf(
  columns: readonly ResultColumn[],
  row: readonly (string | null)[],
  steering: ReadonlySet<number>,
): readonly Claim[] {
  return columns.flatMap((column, index) =>
    steering.has(index) ? [] : valuesOf(column, row[index] ?? null).map((value): Claim => [column.name, value]),
  );
}
