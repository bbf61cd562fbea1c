import { DatabaseError } from '../postgres/port.ts';
import { Problem, type ValueSource } from '../ports/ports.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { SqlText } from './parts/sql-text.ts';
import { type ProvidedColumn, toStoredValue } from './provided-columns.ts';
import { insertRowsSql } from './write/insert-rows.ts';

/** The rows of a request that inserts several. */
type Rows = readonly (readonly ProvidedColumn[])[];

const source: ValueSource = { name: 'body', key: 'body', type: { sql: 'pg_catalog.json', display: 'rows' } };

/**
 * One statement has the same columns for all rows: a column that a row lacks would be NULL, not its default.
 * @throws Problem `invalid-parameter` with the JSON Pointer of the first row that differs from the first one
 */
export function checkSameColumns(rows: Rows): void {
  const first = rows[0]!;
  for (const [index, row] of rows.entries()) {
    const missing = withoutThose(first, row);
    const added = withoutThose(row, first);
    if (missing.length + added.length === 0) continue;
    const names = [...missing, ...added].map((key) => `"${key}"`).join(', ');
    throw new Problem('invalid-parameter', {
      detail: `Rows 0 and ${index} have different columns: ${names}. Send the rows with other columns in a request of their own, or give the values.`,
      members: { parameters: [...missing, ...added], pointer: `/${missing.length > 0 ? index : 0}` },
    });
  }
}

/** Returns the keys of columns that the other row does not have. */
function withoutThose(row: readonly ProvidedColumn[], other: readonly ProvidedColumn[]): readonly string[] {
  const known = new Set(other.map(({ parameter }) => parameter));
  return row.filter(({ parameter }) => !known.has(parameter)).map(({ parameter }) => parameter.key);
}

/** Returns the INSERT of rows with the same columns, up to ON CONFLICT. */
export function insertProvidedRows({ schema, name }: Endpoint, rows: Rows): SqlText {
  const json = `[${rows.map(toJson).join(',')}]`;
  return insertRowsSql(
    { schema, name },
    {
      body: new SqlText().bind(json, source.type.sql, source),
      columns: rows[0]!.map(({ facts, parameter }) => ({
        column: { ...facts, type: parameter.type },
        ifMissing: 'null',
      })),
      conditions: [],
      overridesIdentity: rows[0]!.some(({ facts }) => facts.identity === 'always'),
    },
  );
}

/** Returns the problem of two rows with one key, of which an upsert can change neither; other errors unchanged. */
export function toRowsProblem(error: unknown): unknown {
  const isRepeated = error instanceof DatabaseError && error.diagnostics.code === '21000';
  if (!isRepeated) return error;
  return new Problem('invalid-parameter', {
    detail: 'Two rows of the body have the same key; send each key once.',
    members: { parameters: ['body'] },
  });
}

/** A string is the text of a value for each type but those of JSON. */
function toJson(row: readonly ProvidedColumn[]): string {
  const members = row.map((column) => {
    const value = toStoredValue(column);
    const text = value === null || typeof value === 'string' ? value : Buffer.from(value).toString();
    const isJson = column.parameter.type.json === 'json';
    return `${JSON.stringify(column.facts.name)}:${text === null ? 'null' : isJson ? text : JSON.stringify(text)}`;
  });
  return `{${members.join(',')}}`;
}
