/** Endpoints as clients call them: their paths, and the parameters that a request sends. */

import type { Endpoint, EndpointParameter, TableEndpoint } from '@pgway/core';
import { describedOperation } from '@pgway/core/internal';

/** A part of an endpoint's path. Each begins with a slash. */
export type PathPart =
  /** One or more fixed segments, percent-encoded. */
  | { readonly kind: 'text'; readonly text: string }
  /** A segment; an optional one is omitted together with its slash. */
  | { readonly kind: 'parameter'; readonly parameter: EndpointParameter; readonly optional: boolean };

/** Splits the path of an endpoint into fixed text and parameters. */
export function pathParts({ path, parameters }: Endpoint): readonly PathPart[] {
  const parts: PathPart[] = [];
  // A URL that begins with two slashes names another host.
  const segments = (path.startsWith('//') ? `/.${path}` : path).slice(1).split('/');
  for (const segment of segments) {
    const name = /^\{([^{}]+?)(\?)?\}$/.exec(segment);
    const parameter = parameters.find(({ inPath, name: id, key }) => inPath && (id === name?.[1] || key === name?.[1]));
    if (parameter !== undefined) {
      parts.push({ kind: 'parameter', parameter, optional: name?.[2] !== undefined });
      continue;
    }
    const text = `/${encodeSegment(segment)}`;
    const last = parts.at(-1);
    if (last?.kind === 'text') parts[parts.length - 1] = { kind: 'text', text: last.text + text };
    else parts.push({ kind: 'text', text });
  }
  return parts;
}

function encodeSegment(segment: string): string {
  return encodeURI(segment).replaceAll(/[?#]/g, encodeURIComponent);
}

/**
 * Returns the endpoints without the parameters that the gateway fills, such as claims, hashes and upload metadata. `optional` of the others
 * says whether a request may omit them; for columns of a table that depends on the operation.
 */
export function withClientParameters(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints
    .filter(({ dialect }) => dialect === undefined)
    .map((endpoint) => ({
      ...endpoint,
      parameters: endpoint.parameters
        .filter((parameter) => isClientParameter(endpoint, parameter))
        .map((parameter) => ({ ...parameter, optional: isOptional(endpoint, parameter) })),
    }));
}

function isClientParameter({ upload }: Endpoint, { injectedValue, hashOf, position }: EndpointParameter): boolean {
  if (position === upload?.metadataParameter) return false;
  return injectedValue === undefined && (hashOf === undefined || hashOf === position);
}

function isOptional({ table }: Endpoint, parameter: EndpointParameter): boolean {
  const column = table?.columns.find(({ name }) => name === parameter.name);
  if (table === null || column === undefined) return parameter.optional && !wantsValue(parameter);
  return isOptionalColumn(table, column);
}

function isOptionalColumn({ operation, columns }: TableEndpoint, column: TableEndpoint['columns'][number]): boolean {
  if (operation.startsWith('update')) return !column.key || columns.filter(({ key }) => key).length > 1;
  if (!operation.startsWith('insert')) return true;
  if (operation.startsWith('insertOnConflict') && column.key) return false;
  return !column.notNull || column.hasDefault || column.identity !== null || column.generated;
}

/** Whether a rule wants a value where the routine has a default. */
function wantsValue({ rules = [] }: EndpointParameter): boolean {
  return rules.some(({ kind }) => kind === 'required');
}

/** Returns whether a rule refuses NULL. */
export function refusesNull({ rules = [] }: EndpointParameter): boolean {
  return rules.some(({ kind }) => kind === 'required' || kind === 'notNull');
}

/** Returns the endpoints with the parameters of clients. Those of a dialect are left as they are: the dialect describes them. */
export function withDescribed(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const described = endpoints.filter(
    (endpoint) => endpoint.dialect !== undefined && describedOperation(endpoint) !== null,
  );
  return [...withClientParameters(endpoints), ...described];
}

/** Whether requests may have several rows, as an array. */
export function takesRows({ table }: Endpoint): boolean {
  return table?.operation.startsWith('insert') === true;
}
