/** Parameters and headers of tables: pagination, filters, counts, row versions. */

import type { Endpoint, EndpointParameter } from '@pgway/core';
import type { JsonSchema } from './schema.ts';

/** A query parameter whose values are not plain values of a column. */
export interface ListingParameter {
  readonly description: string;
  readonly schema: JsonSchema;
}

const strings: JsonSchema = { type: 'array', items: { type: 'string' } };

/** Returns null for a parameter with plain values. */
export function listingParameter(endpoint: Endpoint, parameter: EndpointParameter): ListingParameter | null {
  const { table, parameters } = endpoint;
  const listing = table?.listing ?? null;
  if (table === null || listing === null || parameter.inPath) return null;
  switch (parameter.position) {
    case listing.order:
      return {
        description:
          'Columns to order by, separated by commas, each with an optional .asc or .desc, then .nullsfirst or .nullslast. The primary key is always the last term.',
        schema: { type: 'string', examples: [`${parameters[0]!.key}.desc`] },
      };
    case listing.limit:
      return {
        description: 'The number of rows',
        schema: { type: 'integer', minimum: 0, maximum: listing.maxLimit, default: listing.defaultLimit },
      };
    case listing.offset:
      return { description: 'The number of rows to skip', schema: { type: 'integer', minimum: 0, default: 0 } };
    case listing.after:
      return {
        description:
          'Keyset pagination: the values of the order columns in the last row of the previous page, one "after" each, the primary key included. NULL is is.null.',
        schema: strings,
      };
    default:
      return selectionParameter(endpoint, parameter) ?? filterParameter(table.columns, parameter);
  }
}

function selectionParameter(endpoint: Endpoint, { position }: EndpointParameter): ListingParameter | null {
  const { select, or, and } = endpoint.table!.listing!;
  if (position === select) {
    return {
      description:
        'The members of each row, separated by commas: columns (title), other names (name:title), casts (price::text), values of JSON (data->>key), related tables with their columns (author(name)), ...author(name) for those of a single related row, * for all columns. Without it, all columns. Conditions, order and page of a related table are parameters that begin with its name: author.name=eq.x, author.order, author.limit.',
      schema: { type: 'string', examples: [selectExample(endpoint)] },
    };
  }
  if (position !== or && position !== and) return null;
  return {
    description: `Conditions joined by "${position === or ? 'or' : 'and'}": (column.operator.value,...), with and(...), or(...) and not. within. Repeated keys are joined by "and".`,
    schema: strings,
  };
}

function filterParameter(columns: Columns, parameter: EndpointParameter): ListingParameter | null {
  if (parameter.repeatable !== true) return null;
  return { description: describeComparisons(columns, parameter), schema: strings };
}

type Columns = NonNullable<Endpoint['table']>['columns'];

/** Returns the schema of a row: a listing has rows of other members where the request selects them. */
export function listedRow({ table }: Pick<Endpoint, 'table'>, row: JsonSchema): JsonSchema {
  if ((table?.listing ?? null) === null) return row;
  return { anyOf: [row, { type: 'object', description: 'An object with the members that "select" names' }] };
}

function selectExample({ parameters, table }: Endpoint): string {
  const columns = parameters.filter(({ position }) => position < table!.listing!.order);
  return columns
    .slice(0, 2)
    .map(({ key }) => key)
    .join(',');
}

const operators = {
  ordered: ['eq.', 'neq.', 'gt.', 'gte.', 'lt.', 'lte.', 'in.(a,b)'],
  equal: ['eq.', 'neq.', 'in.(a,b)'],
  none: ['eq.', 'neq.'],
} as const;

function describeComparisons(columns: Columns, { name, type }: EndpointParameter): string {
  const { comparison = 'none' } = columns.find((column) => column.name === name) ?? {};
  const states = type.json === 'boolean' ? ['is.true', 'is.false', 'is.unknown'] : [];
  const terms = [...operators[comparison], 'like.', 'ilike.', 'is.null', 'is.not_null', ...states];
  return `${type.display}: a value, or one of ${terms.join(' ')}, each with an optional not. before it. Repeated keys are joined by "and".`;
}

const headerParameter = (name: string, description: string, schema: JsonSchema): JsonSchema => ({
  name,
  in: 'header',
  description,
  schema,
});

const hasListing = ({ table }: Endpoint): boolean => table !== null && table.listing !== null;
const isVersioned = ({ table }: Endpoint): boolean => table?.versioned === true;

/** Whether responses have an `ETag` with the version of the row. */
export const returnsVersion = (endpoint: Endpoint): boolean => hasListing(endpoint) && isVersioned(endpoint);

/** Whether requests may have `If-Match`. */
export function acceptsVersion(endpoint: Endpoint): boolean {
  return isVersioned(endpoint) && /^(?:update|delete)/.test(endpoint.table!.operation);
}

/** Returns the Parameter Objects of request headers. */
export function listingRequestHeaders(endpoint: Endpoint): readonly JsonSchema[] {
  return [
    ...(hasListing(endpoint)
      ? [
          headerParameter('Prefer', 'count=exact asks for the number of all rows, X-Total-Count.', {
            type: 'string',
            examples: ['count=exact'],
          }),
        ]
      : []),
    ...(returnsVersion(endpoint)
      ? [headerParameter('If-None-Match', 'An ETag: 304 when the row still has this version', { type: 'string' })]
      : []),
    ...(acceptsVersion(endpoint)
      ? [
          headerParameter('If-Match', 'An ETag: 412, and nothing is done, unless the row has this version', {
            type: 'string',
          }),
        ]
      : []),
  ];
}

/** Returns the Header Objects of responses with rows. */
export function listingResponseHeaders(endpoint: Endpoint): JsonSchema {
  return {
    ...(hasListing(endpoint)
      ? {
          'X-Total-Count': {
            description: 'The number of rows that the conditions select; sent for Prefer: count=exact',
            schema: { type: 'integer' },
          },
          'Preference-Applied': { description: 'count=exact', schema: { type: 'string' } },
        }
      : {}),
    ...(returnsVersion(endpoint)
      ? {
          ETag: {
            description: 'The version of the row, when the conditions are equalities of the primary key',
            schema: { type: 'string' },
          },
        }
      : {}),
  };
}
