import type { Endpoint } from '@pgway/core';
import { nameEndpoints, type NamedEndpoint } from '../naming.ts';
import { changesPath } from './changes-path.ts';
import { type ClientNames, clientNames } from './client-names.ts';
import type { TypescriptClientOptions } from './options.ts';
import { type Field, requestFields } from './request-fields.ts';
import { type FunctionResult, functionResult } from './function-result.ts';

export interface Interface {
  readonly name: string;
  readonly fields: readonly Field[];
}

/** A function of the client, with everything that its text needs. */
export interface ClientFunction {
  readonly name: string;
  /** The function that returns the URL, with `exportUrls`. */
  readonly urlName: string;
  readonly endpoint: Endpoint;
  readonly request: Interface | null;
  readonly result: FunctionResult;
  /** The interface of rows; null for other results. */
  readonly response: Interface | null;
  readonly parseUrl: boolean;
  readonly parseRequest: boolean;
  readonly statusCode: boolean;
  /** The path of the event stream; null without one. */
  readonly events: string | null;
  /** The function that opens the event stream, with `exportEventSources`. */
  readonly eventSourceName: string;
  /** The path of the stream of row changes; null without one. */
  readonly changes: string | null;
  /** The function that opens it. */
  readonly changesName: string;
}

/** The content of a client module. */
export interface ClientModel {
  readonly functions: readonly ClientFunction[];
  readonly interfaces: readonly Interface[];
  /** Endpoints that `fetch` cannot call, with the reason. */
  readonly omitted: readonly { readonly endpoint: Endpoint; readonly reason: string }[];
}

/** Returns the functions and interfaces for endpoints. */
export function clientModel(endpoints: readonly Endpoint[], options: TypescriptClientOptions): ClientModel {
  const included = includedEndpoints(endpoints, options);
  const omitted = included.flatMap(({ endpoint }) => {
    const reason = uncallableReason(endpoint);
    return reason === null ? [] : [{ endpoint, reason }];
  });
  const callable = callableEndpoints(included);
  const names = clientNames(callable, options);
  const findNames = (endpoint: Endpoint): ClientNames => names.get(endpoint)!;
  const interfaces = new InterfaceRegistry(options.uniqueModels);
  const results = new Map(callable.map(({ endpoint }) => [endpoint, functionResult(endpoint, options)]));
  // Tables first: functions that return rows of a table share its interface.
  const byTables = callable.toSorted(
    (left, right) => Number(right.endpoint.table !== null) - Number(left.endpoint.table !== null),
  );
  const responses = new Map(
    byTables.map(({ endpoint }) => {
      const result = results.get(endpoint)!;
      const { typeName } = findNames(endpoint);
      return [
        endpoint,
        result.kind === 'rows' ? interfaces.addRows(`${typeName}Response`, endpoint, result.fields) : null,
      ];
    }),
  );
  const functions = callable.map(({ endpoint, name }): ClientFunction => {
    const fields = requestFields(endpoint, options);
    const { urlName, eventSourceName, changesName, typeName } = findNames(endpoint);
    return {
      name,
      urlName,
      endpoint,
      request: fields.length === 0 ? null : interfaces.add(`${typeName}Request`, fields),
      result: results.get(endpoint)!,
      response: responses.get(endpoint)!,
      parseUrl: endpoint.typedClient.parseUrl ?? options.includeParseUrlParam,
      parseRequest: endpoint.typedClient.parseRequest ?? options.includeParseRequestParam,
      statusCode: endpoint.typedClient.statusCode ?? options.includeStatusCode,
      events: endpoint.events !== null && endpoint.typedClient.events !== false ? endpoint.events.path : null,
      eventSourceName,
      changes: changesPath(endpoint),
      changesName,
    };
  });
  return { functions, interfaces: usedInterfaces(functions), omitted };
}

/** Returns the endpoints that the options include. Their names are unique among all endpoints. */
export function includedEndpoints(
  endpoints: readonly Endpoint[],
  options: TypescriptClientOptions,
): readonly NamedEndpoint[] {
  return nameEndpoints(endpoints, options).filter((named) => isIncluded(named, options));
}

/** Returns the endpoints that `fetch` can call. */
export function callableEndpoints(named: readonly NamedEndpoint[]): readonly NamedEndpoint[] {
  return named.filter(({ endpoint }) => uncallableReason(endpoint) === null);
}

function isIncluded({ endpoint, name }: NamedEndpoint, options: TypescriptClientOptions): boolean {
  return (
    endpoint.typedClient.included &&
    !options.skipRoutineNames.includes(endpoint.name) &&
    !options.skipFunctionNames.includes(name) &&
    !options.skipPaths.includes(endpoint.path) &&
    !options.skipSchemas.includes(endpoint.schema)
  );
}

/** `fetch` rejects some methods, and bodies with others. */
function uncallableReason({ method, parameterSource, parameters, bodyParameter }: Endpoint): string | null {
  if (method === 'CONNECT' || method === 'TRACE') return `fetch does not send ${method}`;
  const hasBody = bodyParameter !== null || (parameterSource === 'body' && parameters.some(({ inPath }) => !inPath));
  return hasBody && (method === 'GET' || method === 'HEAD') ? `fetch sends no body with ${method}` : null;
}

/** The interfaces of a module; equal ones are shared with `uniqueModels`. */
class InterfaceRegistry {
  readonly #unique: boolean;
  readonly #byContent = new Map<string, Interface>();
  readonly #byRowType = new Map<string, Interface>();

  constructor(unique: boolean) {
    this.#unique = unique;
  }

  add(name: string, fields: readonly Field[]): Interface {
    const added = { name, fields };
    if (!this.#unique) return added;
    const content = contentKey(fields);
    const known = this.#byContent.get(content);
    if (known === undefined) this.#byContent.set(content, added);
    return known ?? added;
  }

  /** Operations on a table, and functions that return its rows, share an interface. */
  addRows(name: string, endpoint: Endpoint, fields: readonly Field[]): Interface {
    const rowType = 'rowType' in endpoint.result ? endpoint.result.rowType : undefined;
    const known = rowType === undefined ? undefined : this.#byRowType.get(rowType);
    if (known !== undefined && hasSameColumns(known.fields, fields)) return known;
    const added = this.add(name, fields);
    if (rowType !== undefined && known === undefined && endpoint.table !== null) this.#byRowType.set(rowType, added);
    return added;
  }
}

function contentKey(fields: readonly Field[]): string {
  return JSON.stringify(fields.map(({ key, type, optional }) => [key, type, optional]));
}

/** Ignores nullability, which is unknown for functions that return rows of a table. */
function hasSameColumns(left: readonly Field[], right: readonly Field[]): boolean {
  const plain = ({ key, type }: Field): string => JSON.stringify([key, type.replace(/ \| null$/, '')]);
  return left.length === right.length && left.every((field, index) => plain(field) === plain(right[index]!));
}

/** Returns the interfaces in the order of their first use. */
function usedInterfaces(functions: readonly ClientFunction[]): readonly Interface[] {
  return [...new Set(functions.flatMap(({ request, response }) => [request, response]))].filter(
    (used) => used !== null,
  );
}
