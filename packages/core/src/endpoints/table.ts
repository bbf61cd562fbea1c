import type { TypeFacts } from '../catalog/type-facts.ts';
import type { TableAccess } from '../catalog/table.ts';
import type { EndpointBuilder } from './endpoint-builder.ts';
import type { EndpointParameter, Listing, ParameterSource, TableEndpoint } from './endpoint.ts';

/** What a listing adds to the parameters of a select. */
export interface TableDetails {
  readonly parameters: readonly EndpointParameter[];
  readonly table: TableEndpoint | null;
}

/** The part of an endpoint that only operations on a table have; functions and procedures pass as they are. */
export function resolveTable(
  builder: EndpointBuilder,
  parameters: readonly EndpointParameter[],
  source: ParameterSource,
): TableDetails {
  const { table: use } = builder.routine;
  if (use === undefined) return { parameters, table: null };
  const wanted = builder.overrides.listing ?? use.listing !== null;
  const limits = use.listing ?? use.listingLimits;
  const all = wanted && use.operation === 'select' ? withListing(parameters, source) : parameters;
  return { parameters: all, table: tableOf(use, builder, wanted ? { ...limits, ...places(parameters.length) } : null) };
}

function tableOf(use: TableAccess, { overrides }: EndpointBuilder, listing: Listing | null): TableEndpoint {
  return {
    operation: use.operation,
    columns: use.columns.map(factsOf),
    listing: use.operation === 'select' ? listing : null,
    versioned: use.versioned && listing !== null,
    allowUnfilteredDelete: overrides.allowUnfilteredDelete ?? use.allowUnfilteredDelete,
  };
}

/** The type of a column stands where the column is used. */
function factsOf({ type, ...facts }: TableAccess['columns'][number]): TableEndpoint['columns'][number] {
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

/** A value for each column of the order. */
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

function places(columns: number): Pick<Listing, 'order' | 'limit' | 'offset' | 'after'> {
  return { order: columns + 1, limit: columns + 2, offset: columns + 3, after: columns + 4 };
}

/**
 * Columns may be compared by operators, and more than once; order and page have keys of their own. A column that has one of
 * these names keeps it, and the key then begins with a `$`.
 */
function withListing(columns: readonly EndpointParameter[], source: ParameterSource): readonly EndpointParameter[] {
  const taken = new Set(columns.flatMap(({ name, key }) => [name, key]));
  const own = (name: string, index: number, type: TypeFacts): EndpointParameter => {
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
  // Only a query string can repeat a key; a value of the path is compared as it is.
  const compared = columns.map((column) =>
    column.inPath || column.type.element !== undefined || source === 'body'
      ? column
      : { ...column, repeatable: true as const },
  );
  return [
    ...compared,
    own('order', 1, text),
    own('limit', 2, bigint),
    own('offset', 3, bigint),
    own('after', 4, texts),
  ];
}
