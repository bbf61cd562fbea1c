import { quoteIdentifier } from '../catalog/quote.ts';
import type { Value } from '../postgres/port.ts';
import { type QueryInput, Problem } from '../ports/ports.ts';
import type { Endpoint, EndpointParameter, TableEndpoint } from '../endpoints/endpoint.ts';
import type { BoundValue } from './fragment.ts';

/** What the catalog says of a column, and how clients call it. */
export interface ColumnParameter {
  readonly facts: TableEndpoint['columns'][number];
  readonly parameter: EndpointParameter;
}

/** A column that the request names, and its value. */
export interface ProvidedColumn extends ColumnParameter {
  readonly value: Value;
}

/** The row is called so in every statement. */
export const rowAlias = '"r"';

export function columnReference({ facts }: ColumnParameter): string {
  return `${rowAlias}.${quoteIdentifier(facts.name)}`;
}

export function aliasedTable({ schema, name }: Endpoint): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)} as ${rowAlias}`;
}

/** The table's part of an endpoint of this source. */
export function requireTable({ id, table }: Endpoint): TableEndpoint {
  if (table === null) throw new TypeError(`${id} is no operation on a table`);
  return table;
}

/** The columns that the request names, in the table's order; what a listing adds is not among them. */
export function listProvidedColumns({ endpoint, parameters, values }: QueryInput): readonly ProvidedColumn[] {
  const columns = mapColumns(endpoint);
  return parameters.flatMap((parameter, index) => {
    const facts = columns.get(parameter);
    return facts === undefined ? [] : [{ facts, parameter, value: values[index]! }];
  });
}

/** All columns that requests may name. */
export function listColumnParameters(endpoint: Endpoint): readonly ColumnParameter[] {
  return [...mapColumns(endpoint)].map(([parameter, facts]) => ({ parameter, facts }));
}

type ColumnsOfParameters = ReadonlyMap<EndpointParameter, ColumnParameter['facts']>;

/** A table may have many columns: they are put together once, not for every request. */
const joined = new WeakMap<Endpoint, ColumnsOfParameters>();

function mapColumns(endpoint: Endpoint): ColumnsOfParameters {
  const known = joined.get(endpoint);
  if (known !== undefined) return known;
  const { columns, listing } = requireTable(endpoint);
  const byName = new Map(columns.map((facts) => [facts.name, facts]));
  const made = new Map(
    endpoint.parameters
      .filter(({ position }) => listing === null || position < listing.order)
      .map((parameter) => [parameter, byName.get(parameter.name)!]),
  );
  joined.set(endpoint, made);
  return made;
}

/**
 * The value that a row gets. A column of JSON that cannot be NULL gives `null` for a JSON null alone, and takes it as that.
 */
export function toStoredValue({ facts, parameter, value }: ProvidedColumn): BoundValue {
  const isJsonNull = value === null && facts.notNull && parameter.type.json === 'json';
  return { value: isJsonNull ? 'null' : value, owner: parameter };
}

/** The operation is not possible with what the request gives: there is nothing at such a place. */
export function missingColumn(columns: readonly ColumnParameter[], why: string): Problem {
  const names = columns.map(({ parameter: { key, type } }) => `"${key}" (${type.display})`);
  return new Problem('missing-column', {
    detail: names.length === 0 ? `${why}; there is none.` : `${why}: ${names.join(', ')}.`,
    members: { missing: columns.map(({ parameter }) => parameter.key) },
  });
}

export function invalidParameter({ key }: Pick<EndpointParameter, 'key'>, detail: string): Problem {
  return new Problem('invalid-parameter', { detail, members: { parameters: [key] } });
}
