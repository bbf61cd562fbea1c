import type { EndpointParameter, ValueQuery } from './endpoint.ts';

/** The setting of the transaction that has the values of queries for a statement that cannot contain them. */
export const storedValuesSetting = 'pgway.values';

type ParameterWithQuery = EndpointParameter & { readonly query: ValueQuery };

/** Returns the parameters that have a query, in the order of their values in the setting. */
export function listValueQueries(parameters: readonly EndpointParameter[]): readonly ParameterWithQuery[] {
  return parameters.filter((parameter): parameter is ParameterWithQuery => parameter.query !== undefined);
}

/** Returns the parameters that queries read. */
export function listQueryInputs(parameters: readonly EndpointParameter[]): readonly EndpointParameter[] {
  const read = new Set(listValueQueries(parameters).flatMap(({ query }) => query.parts));
  return parameters.filter(({ position }) => read.has(position));
}

/** Returns the query in parentheses. @param given the parameters of `$1`, `$2`, … */
export function writeValueQuery(
  { parts }: ValueQuery,
  parameters: readonly EndpointParameter[],
  given: readonly EndpointParameter[],
): string {
  const written = parts.map((part) => {
    if (typeof part === 'string') return part;
    const { type, defaultExpression } = parameters.find(({ position }) => position === part)!;
    const index = given.findIndex(({ position }) => position === part);
    // A parameter that the request leaves out has its default in the call, and here.
    return index === -1 ? `(${defaultExpression ?? 'null'})::${type.sql}` : `$${index + 1}::${type.sql}`;
  });
  return `(${written.join('')})`;
}

/**
 * Returns the statement that keeps the values of all queries in a setting until the end of the transaction, as an array of texts: it
 * distinguishes NULL.
 * @param given the parameters of `$1`, `$2`, …
 */
export function buildStoringStatement(
  parameters: readonly EndpointParameter[],
  given: readonly EndpointParameter[],
): string {
  const texts = listValueQueries(parameters).map(
    ({ query, type }) => `${writeValueQuery(query, parameters, given)}::${type.sql}::pg_catalog.text`,
  );
  return `select pg_catalog.set_config('${storedValuesSetting}', array[${texts.join(', ')}]::pg_catalog.text, true)`;
}

/** Returns the stored value as a text. A plan may be made without the setting, which is then NULL, or empty in a session that has had it. */
export function writeStoredValue(parameters: readonly EndpointParameter[], { position }: EndpointParameter): string {
  const index = listValueQueries(parameters).findIndex((parameter) => parameter.position === position);
  return `(nullif(pg_catalog.current_setting('${storedValuesSetting}', true), '')::pg_catalog.text[])[${index + 1}]`;
}
