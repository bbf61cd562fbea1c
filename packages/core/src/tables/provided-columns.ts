import { quoteIdentifier } from '../catalog/quote.ts';
import type { Value } from '../postgres/port.ts';
import { Problem, type Query, type QueryInput } from '../ports/ports.ts';
import type { Endpoint, EndpointParameter, TableEndpoint } from '../endpoints/endpoint.ts';
import type { BoundValue } from './fragment.ts';

/** A column and its request parameter. */
export interface ColumnParameter {
  readonly facts: TableEndpoint['columns'][number];
  readonly parameter: EndpointParameter;
}

/** A column that the request provides a value for. */
export interface ProvidedColumn extends ColumnParameter {
  readonly value: Value;
}

/** The alias of the table in every statement. */
export const rowAlias = '"r"';

export function columnReference({ facts }: ColumnParameter): string {
  return `${rowAlias}.${quoteIdentifier(facts.name)}`;
}

export function aliasedTable({ schema, name }: Endpoint): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)} as ${rowAlias}`;
}

/** @throws TypeError for the endpoint of a routine */
export function requireTable({ id, table }: Endpoint): TableEndpoint {
  if (table === null) throw new TypeError(`the endpoint "${id}" is not an operation on a table`);
  return table;
}

/** Lists the columns of the request in the table's order, without the parameters of a listing. */
export function listProvidedColumns({ endpoint, parameters, values }: QueryInput): readonly ProvidedColumn[] {
  const columns = columnsByParameter(endpoint);
  return parameters.flatMap((parameter, index) => {
    const facts = columns.get(parameter);
    return facts === undefined ? [] : [{ facts, parameter, value: values[index]! }];
  });
}

/** Lists all columns that requests may provide. */
export function listColumnParameters(endpoint: Endpoint): readonly ColumnParameter[] {
  return [...columnsByParameter(endpoint)].map(([parameter, facts]) => ({ parameter, facts }));
}

type ColumnsByParameter = ReadonlyMap<EndpointParameter, ColumnParameter['facts']>;

/** Built once per endpoint: a table may have many columns. */
const columnCache = new WeakMap<Endpoint, ColumnsByParameter>();

function columnsByParameter(endpoint: Endpoint): ColumnsByParameter {
  const cached = columnCache.get(endpoint);
  if (cached !== undefined) return cached;
  const { columns, listing } = requireTable(endpoint);
  const byName = new Map(columns.map((facts) => [facts.name, facts]));
  const byParameter = new Map(
    endpoint.parameters
      .filter(({ position }) => listing === null || position < listing.order)
      .map((parameter) => [parameter, byName.get(parameter.name)!]),
  );
  columnCache.set(endpoint, byParameter);
  return byParameter;
}

/** Returns the value to write. JSON `null` is stored as such in a column of JSON that is NOT NULL, otherwise as NULL. */
export function toStoredValue({ facts, parameter, value }: ProvidedColumn): BoundValue {
  const isJsonNull = value === null && facts.notNull && parameter.type.json === 'json';
  return { value: isJsonNull ? 'null' : value, source: parameter };
}

/** Returns the problem of a request without required columns. */
export function missingColumn(columns: readonly ColumnParameter[], reason: string): Problem {
  const names = columns.map(({ parameter: { key, type } }) => `"${key}" (${type.display})`);
  return new Problem('missing-column', {
    detail: names.length === 0 ? `${reason}; there is none.` : `${reason}: ${names.join(', ')}.`,
    members: { missing: columns.map(({ parameter }) => parameter.key) },
  });
}

export function invalidParameter({ key }: Pick<EndpointParameter, 'key'>, detail: string): Problem {
  return new Problem('invalid-parameter', { detail, members: { parameters: [key] } });
}

/** Whether every column of the primary key has a value: at most one row matches. */
export function coversKey(endpoint: Endpoint, provided: readonly ProvidedColumn[]): boolean {
  const keys = requireTable(endpoint).columns.filter(({ key }) => key);
  return (
    keys.length > 0 &&
    keys.every(({ name }) => provided.some(({ facts, value }) => facts.name === name && value !== null))
  );
}

const autoPlan = { settings: [['plan_cache_mode', 'auto']] } as const;

/**
 * Returns `plan_cache_mode = auto`: the best plan depends on the values, even where the gateway forces generic plans for routines.
 * Returns no setting if the comment chooses a mode, or if the whole key is provided: then one plan fits all values.
 */
export function planModeSettings(
  endpoint: Endpoint,
  provided: readonly ProvidedColumn[],
  valueCount: number,
): Pick<Query, 'settings'> {
  if (valueCount === 0 || endpoint.planCacheMode !== null || coversKey(endpoint, provided)) return {};
  return autoPlan;
}
