import type { TypeFacts } from '../catalog/type-facts.ts';
import type { PageLimits, TableAccess } from '../catalog/table.ts';
import { allowUnfilteredDelete } from './annotations/allow-unfiltered-delete.ts';
import { listing as listingSetting } from './annotations/listing.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, Listing, ParameterSource, TableEndpoint } from './endpoint.ts';

/** The parameters of an endpoint, and its table operation. */
export interface TableDetails {
  readonly parameters: readonly EndpointParameter[];
  readonly table: TableEndpoint | null;
}

/** Adds the table operation and its listing parameters. Returns functions and procedures unchanged. */
export function resolveTable(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  source: ParameterSource,
): TableDetails {
  const { table } = builder.routine;
  if (table === undefined) return { parameters, table: null };
  const hasListing = (builder.get(listingSetting) ?? table.listing !== null) && builder.routine.dialect === undefined;
  const limits = table.listing ?? table.listingLimits;
  const all = hasListing && table.operation === 'select' ? addListingParameters(parameters, source) : parameters;
  return {
    parameters: all,
    table: createTableEndpoint(
      table,
      builder,
      hasListing ? { ...limits, ...getListingPositions(parameters.length) } : null,
    ),
  };
}

function createTableEndpoint(table: TableAccess, builder: EndpointBuilder, listing: Listing | null): TableEndpoint {
  return {
    operation: table.operation,
    columns: table.columns.map(withoutType),
    listing: table.operation === 'select' ? listing : null,
    versioned: table.versioned && listing !== null,
    allowUnfilteredDelete: builder.get(allowUnfilteredDelete) ?? table.allowUnfilteredDelete,
    requiresRow: table.requiresRow,
    ...(table.sourceData === undefined ? {} : { sourceData: table.sourceData }),
  };
}

/** Removes the type, which parameters and result columns contain. */
function withoutType({ type, ...facts }: TableAccess['columns'][number]): TableEndpoint['columns'][number] {
  void type;
  return facts;
}

const text: TypeFacts = {
  sql: '"pg_catalog"."text"',
  display: 'text',
  oid: 25,
  baseOid: 25,
  kind: 'base',
  json: 'string',
  textual: true,
  builtin: 'text',
};

/** The type of `after`: a value for each column of the order. */
const texts: TypeFacts = {
  sql: '"pg_catalog"."_text"',
  display: 'text[]',
  oid: 1009,
  baseOid: 1009,
  kind: 'base',
  json: 'converted',
  textual: false,
  builtin: '_text',
  element: text,
};

const bigint: TypeFacts = {
  sql: '"pg_catalog"."int8"',
  display: 'bigint',
  oid: 20,
  baseOid: 20,
  kind: 'base',
  json: 'number',
  textual: false,
  builtin: 'int8',
};

function getListingPositions(columns: number): Omit<Listing, keyof PageLimits> {
  return {
    order: columns + 1,
    limit: columns + 2,
    offset: columns + 3,
    after: columns + 4,
    select: columns + 5,
    or: columns + 6,
    and: columns + 7,
  };
}

/**
 * Makes the keys of columns repeatable for filters, and adds the parameters of a listing. The key of such a parameter begins
 * with `$` when a column has the same name.
 */
function addListingParameters(
  columns: readonly EndpointParameter[],
  source: ParameterSource,
): readonly EndpointParameter[] {
  const taken = new Set(columns.flatMap(({ name, key }) => [name, key]));
  const createParameter = (name: string, index: number, type: TypeFacts): EndpointParameter => {
    const key = taken.has(name) ? `$${name}` : name;
    return {
      name: key,
      key,
      position: columns.length + index,
      type: type as EndpointParameter['type'],
      optional: true,
      variadic: false,
      unnamed: false,
      inPath: false,
      fields: null,
    };
  };
  // Only keys in the query string can be repeated.
  const compared = columns.map((column) =>
    column.inPath || column.type.element !== undefined || source === 'body'
      ? column
      : { ...column, repeatable: true as const },
  );
  return [
    ...compared,
    createParameter('order', 1, text),
    createParameter('limit', 2, bigint),
    createParameter('offset', 3, bigint),
    createParameter('after', 4, texts),
    createParameter('select', 5, text),
    ...['or', 'and'].map((name, index) => ({
      ...createParameter(name, index + 6, text),
      ...(source === 'body' ? {} : { repeatable: true as const }),
    })),
  ];
}
