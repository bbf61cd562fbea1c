import type { TextTable } from '@pgway/core';
import { parseJsonObject, quoteIdentifier, readBoolean, readText, readTextOrNull } from '@pgway/core/internal';
import { mediaTypeOfName } from '../media-type-name.ts';

/** An aggregate that makes a response body of rows. */
export interface MediaHandler {
  readonly schema: string;
  /** The quoted and qualified name of the aggregate. */
  readonly sql: string;
  /** The quoted and qualified type of the rows that it takes; null: rows of every type. */
  readonly rowType: string | null;
  /** In lower case. */
  readonly mediaType: string;
  readonly isBytes: boolean;
}

export function decodeMediaHandlers(rows: TextTable): readonly MediaHandler[] {
  return rows.flatMap(([text], index): readonly MediaHandler[] => {
    const facts = parseJsonObject(`aggregate ${index + 1}`, text ?? null);
    const mediaType = mediaTypeOfName(readText(facts, 'domain'));
    if (mediaType === null) return [];
    const schema = readText(facts, 'schema');
    const rowSchema = readTextOrNull(facts, 'rowSchema');
    return [
      {
        schema,
        sql: `${quoteIdentifier(schema)}.${quoteIdentifier(readText(facts, 'function'))}`,
        rowType:
          rowSchema === null ? null : `${quoteIdentifier(rowSchema)}.${quoteIdentifier(readText(facts, 'rowType'))}`,
        mediaType,
        isBytes: readBoolean(facts, 'isBytes'),
      },
    ];
  });
}

/** Returns the expression of the body over the rows `"page"`. @param names the columns of the rows */
export function handlerBody({ sql, rowType, isBytes }: MediaHandler, names: readonly string[]): string {
  // The rows of a query have no type of their own.
  const columns = names.map((name) => `"page".${quoteIdentifier(name)}`).join(', ');
  const row = rowType === null ? '"page".*' : `row(${columns})::${rowType}`;
  const value = `${sql}(${row})`;
  return isBytes ? `pg_catalog.encode(${value}, 'hex')` : `${value}::pg_catalog.text`;
}
