import type { Endpoint, EndpointParameter } from '../endpoints/endpoint.ts';

/** The endpoints with the parameters that clients may give, `optional` as the operation has it. */
export function seenByClients(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.map((endpoint) => ({
    ...endpoint,
    parameters: endpoint.parameters
      .filter(isGivenByClients)
      .map((parameter) => ({ ...parameter, optional: isOptional(endpoint, parameter) })),
  }));
}

/** The gateway fills the others: identity of the caller, hashes. */
function isGivenByClients({ injectedValue, hashOf, position }: EndpointParameter): boolean {
  return injectedValue === undefined && (hashOf === undefined || hashOf === position);
}

/** The plan lets every column of a table be left out; which ones a request needs depends on the operation. */
function isOptional({ table }: Endpoint, parameter: EndpointParameter): boolean {
  const column = table?.columns.find(({ name }) => name === parameter.name);
  if (table === null || column === undefined) return parameter.optional;
  const { operation, columns } = table;
  if (operation.startsWith('update')) return !column.key || columns.filter(({ key }) => key).length > 1;
  if (!operation.startsWith('insert')) return true;
  if (operation.startsWith('insertOnConflict') && column.key) return false;
  return !column.notNull || column.hasDefault || column.identity !== null || column.generated;
}
