import { arrayLiteral } from '../postgres/literal.ts';
import type { Value } from '../postgres/port.ts';
import type { Filters } from './options.ts';

/**
 * Returns the eight filters as the parameters of a catalog query, in this order:
 * `$1` includeSchemas, `$2` excludeSchemas, `$3` includeNames, `$4` excludeNames (text[]), `$5` schemaSimilarTo,
 * `$6` schemaNotSimilarTo, `$7` nameSimilarTo, `$8` nameNotSimilarTo (text). A filter without effect is NULL.
 */
export function filterValues(filters: Filters): readonly Value[] {
  return [
    nameArray(filters.includeSchemas),
    nameArray(filters.excludeSchemas),
    nameArray(filters.includeNames),
    nameArray(filters.excludeNames),
    filters.schemaSimilarTo || null,
    filters.schemaNotSimilarTo || null,
    filters.nameSimilarTo || null,
    filters.nameNotSimilarTo || null,
  ];
}

/** The parameters with their types, for a query that does not use all of them. */
export const filterParameters: string = Array.from(
  { length: 8 },
  (_, index) => `$${index + 1}::pg_catalog.text${index < 4 ? '[]' : ''}`,
).join(', ');

/** Returns the condition of the filters on two expressions of type text. */
export function filterCondition(schema: string, name: string): string {
  return `($1::text[] is null or ${schema} = any ($1))
    and ($2::text[] is null or ${schema} <> all ($2))
    and ($3::text[] is null or ${name} = any ($3))
    and ($4::text[] is null or ${name} <> all ($4))
    and ($5::text is null or ${schema} similar to $5)
    and ($6::text is null or ${schema} not similar to $6)
    and ($7::text is null or ${name} similar to $7)
    and ($8::text is null or ${name} not similar to $8)`;
}

function nameArray(names: readonly string[] | null | undefined): string | null {
  return names?.length ? arrayLiteral(names) : null;
}
