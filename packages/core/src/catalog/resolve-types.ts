import type { Database } from '../postgres/port.ts';
import { decodeCode, parseJsonObject, readIntegerOrNull, readText } from './json-object.ts';
import { queryCatalog } from './query-catalog.ts';
import { createTypeLookup, decodeTypeRow } from './type-lookup.ts';
import { typesByNameSql } from './types-by-name.sql.ts';
import type { TypeFacts } from './type-facts.ts';

const rowKinds = { type: 'type', name: 'name' } as const;

/**
 * Resolves type names as SQL writes them: `int4`, `text[]`, `numeric`, `library.isbn`. Types outside pg_catalog need their schema.
 * @returns the facts of each name; null for a name that no type has
 * @throws DatabaseError for a name that is not a type name at all
 */
export async function resolveTypes(
  database: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, TypeFacts | null>> {
  const distinct = [...new Set(names)];
  if (distinct.length === 0) return new Map();
  const rows = (await queryCatalog(database, typesByNameSql, [JSON.stringify(distinct)])).map(
    ([kind, facts], index) => ({
      kind: decodeCode(`row ${index + 1}, kind`, kind, rowKinds),
      facts: parseJsonObject(`row ${index + 1}, facts`, facts ?? null),
    }),
  );
  const types = createTypeLookup(rows.filter(({ kind }) => kind === 'type').map(({ facts }) => decodeTypeRow(facts)));
  return new Map(
    rows
      .filter(({ kind }) => kind === 'name')
      .map(({ facts }) => {
        const oid = readIntegerOrNull(facts, 'oid');
        return [readText(facts, 'name'), oid === null ? null : types(oid, facts.path)];
      }),
  );
}
