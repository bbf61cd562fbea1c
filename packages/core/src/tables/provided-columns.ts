import { quoteIdentifier } from '../catalog/quote.ts';
import type { Value } from '../postgres/port.ts';
import { Problem, type Query, type QueryInput } from '../ports/ports.ts';
import type { Endpoint, EndpointParameter, TableEndpoint } from '../endpoints/endpoint.ts';

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
export function listProvidedColumns({
  endpoint,
  parameters,
  values,
}: Pick<QueryInput, 'endpoint' | 'parameters' | 'values'>): readonly ProvidedColumn[] {
  const { byParameter } = columnsOf(endpoint);
  const provided: ProvidedColumn[] = [];
  for (const [index, parameter] of parameters.entries()) {
    const facts = byParameter.get(parameter);
    if (facts !== undefined) provided.push({ facts, parameter, value: values[index]! });
  }
  return provided;
}

/** Lists all columns that requests may provide. */
export function listColumnParameters(endpoint: Endpoint): readonly ColumnParameter[] {
  return columnsOf(endpoint).all;
}

/** The columns of the requests of an endpoint. */
interface EndpointColumns {
  readonly byParameter: ReadonlyMap<EndpointParameter, ColumnParameter['facts']>;
  readonly all: readonly ColumnParameter[];
  /** The names of the columns of the primary key. */
  readonly keys: readonly string[];
}

/** Built once per endpoint: a table may have many columns. */
const columnCache = new WeakMap<Endpoint, EndpointColumns>();

function columnsOf(endpoint: Endpoint): EndpointColumns {
  const cached = columnCache.get(endpoint);
  if (cached !== undefined) return cached;
  const { columns, listing } = requireTable(endpoint);
  const byName = new Map(columns.map((facts) => [facts.name, facts]));
  const all = endpoint.parameters
    .filter(({ position }) => listing === null || position < listing.order)
    .map((parameter) => ({ parameter, facts: byName.get(parameter.name)! }));
  const created = {
    byParameter: new Map(all.map(({ parameter, facts }) => [parameter, facts])),
    all,
    keys: columns.filter(({ key }) => key).map(({ name }) => name),
  };
  columnCache.set(endpoint, created);
  return created;
}

/** Returns the value to write. JSON `null` is stored as such in a column of JSON that is NOT NULL, otherwise as NULL. */
export function toStoredValue({ facts, parameter, value }: ProvidedColumn): Value {
  const isJsonNull = value === null && facts.notNull && parameter.type.json === 'json';
  return isJsonNull ? 'null' : value;
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
  const { keys } = columnsOf(endpoint);
  return (
    keys.length > 0 && keys.every((key) => provided.some(({ facts, value }) => facts.name === key && value !== null))
  );
}

/** Returns no mode if the comment chooses one, or if the whole key is provided: then one plan fits all values. */
export function choosePlanMode(
  endpoint: Endpoint,
  provided: readonly ProvidedColumn[],
  valueCount: number,
): Pick<Query, 'planCacheMode'> {
  if (valueCount === 0 || endpoint.planCacheMode !== null || coversKey(endpoint, provided)) return {};
  return { planCacheMode: 'auto' };
}
