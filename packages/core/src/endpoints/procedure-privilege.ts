import { quoteIdentifier, quoteLiteral } from '../catalog/quote.ts';
import type { Endpoint } from './endpoint.ts';

/** Returns a query for one value: whether the current role may call the procedure; NULL for one that does not exist. */
export function buildProcedurePrivilegeQuery({ schema, name, parameters }: Endpoint): string {
  const types = parameters.map(({ type }) => type.sql).join(', ');
  const procedure = quoteLiteral(`${quoteIdentifier(schema)}.${quoteIdentifier(name)}(${types})`);
  return `select pg_catalog.has_function_privilege(pg_catalog.to_regprocedure(${procedure}), 'EXECUTE')`;
}
