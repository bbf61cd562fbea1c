/** What the page needs to offer the conditions, columns and related rows of a listing. */
import type { Endpoint } from '@pgway/core';
import type { RelatedTable } from '@pgway/core/internal';
import type { PageListing } from '../browser/page-data.ts';

/** The operators of conditions, by the comparison of the column. */
const operators = {
  ordered: ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in'],
  equal: ['eq', 'neq', 'in'],
  none: ['eq', 'neq'],
} as const;

export function pageListing(
  endpoint: Endpoint,
  relatedTables: (endpoint: Endpoint) => readonly RelatedTable[],
): PageListing | null {
  const { table, parameters } = endpoint;
  const listing = table?.listing ?? null;
  if (table === null || listing === null) return null;
  const keyOf = (position: number): string => parameters.find((one) => one.position === position)!.key;
  const conditions = parameters.filter(({ repeatable, name, inPath }) => {
    return repeatable === true && !inPath && table.columns.some((column) => column.name === name);
  });
  return {
    conditions: conditions.map(({ key, name, type }) => {
      const { comparison } = table.columns.find((column) => column.name === name)!;
      const states = type.json === 'boolean' ? ['is.true', 'is.false', 'is.unknown'] : [];
      return {
        name: key,
        type: type.display,
        operators: [...operators[comparison], 'like', 'ilike', 'is.null', 'is.not_null', ...states],
      };
    }),
    columns: endpoint.result.kind === 'objects' ? endpoint.result.columns.map(({ key }) => key) : [],
    related: relatedTables(endpoint),
    select: keyOf(listing.select),
    order: keyOf(listing.order),
    page: [listing.limit, listing.offset, listing.after].map(keyOf),
  };
}
