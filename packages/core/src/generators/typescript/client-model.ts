import type { Endpoint } from '../../endpoints/endpoint.ts';
import { nameEndpoints, type NamedEndpoint } from '../naming.ts';
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
  /** The name of what makes its URL, where URLs are exported. */
  readonly urlName: string;
  readonly endpoint: Endpoint;
  readonly request: Interface | null;
  readonly result: FunctionResult;
  /** The interface of rows. */
  readonly response: Interface | null;
  readonly parseUrl: boolean;
  readonly parseRequest: boolean;
  readonly statusCode: boolean;
  /** The path of what the endpoint streams, where callers may follow it. */
  readonly events: string | null;
  /** The name of what makes its event source, where that is exported. */
  readonly eventSourceName: string;
}

export interface ClientModel {
  readonly functions: readonly ClientFunction[];
  readonly interfaces: readonly Interface[];
  /** Endpoints that no function can call, with the reason. */
  readonly omitted: readonly { readonly endpoint: Endpoint; readonly reason: string }[];
}

/** What a client has of these endpoints. */
export function clientModel(endpoints: readonly Endpoint[], options: TypescriptClientOptions): ClientModel {
  const wanted = includedEndpoints(endpoints, options);
  const omitted = wanted.flatMap(({ endpoint }) => {
    const reason = uncallableReason(endpoint);
    return reason === null ? [] : [{ endpoint, reason }];
  });
  const possible = callableEndpoints(wanted);
  const names = clientNames(possible, options);
  const namesOf = (endpoint: Endpoint): ClientNames => names.get(endpoint)!;
  const interfaces = new InterfaceRegistry(options.uniqueModels);
  const results = new Map(
    possible.map(({ endpoint }) => [endpoint, functionResult(endpoint, options.defaultJsonType)]),
  );
  // Tables first: functions that return their rows take over the interface.
  const byTables = possible.toSorted(
    (left, right) => Number(right.endpoint.table !== null) - Number(left.endpoint.table !== null),
  );
  const responses = new Map(
    byTables.map(({ endpoint }) => {
      const result = results.get(endpoint)!;
      const { typeName } = namesOf(endpoint);
      return [
        endpoint,
        result.kind === 'rows' ? interfaces.rows(`${typeName}Response`, endpoint, result.fields) : null,
      ];
    }),
  );
  const functions = possible.map(({ endpoint, name }): ClientFunction => {
    const fields = requestFields(endpoint, options.defaultJsonType);
    const { urlName, eventSourceName, typeName } = namesOf(endpoint);
    return {
      name,
      urlName,
      endpoint,
      request: fields.length === 0 ? null : interfaces.own(`${typeName}Request`, fields),
      result: results.get(endpoint)!,
      response: responses.get(endpoint)!,
      parseUrl: endpoint.typedClient.parseUrl ?? options.includeParseUrlParam,
      parseRequest: endpoint.typedClient.parseRequest ?? options.includeParseRequestParam,
      statusCode: endpoint.typedClient.statusCode ?? options.includeStatusCode,
      events: endpoint.events !== null && endpoint.typedClient.events !== false ? endpoint.events.path : null,
      eventSourceName,
    };
  });
  return { functions, interfaces: usedInterfaces(functions), omitted };
}

/** The endpoints that the options want a function for, named among all of them. */
export function includedEndpoints(
  endpoints: readonly Endpoint[],
  options: TypescriptClientOptions,
): readonly NamedEndpoint[] {
  return nameEndpoints(endpoints, options).filter((named) => isIncluded(named, options));
}

/** Those that `fetch` can call. */
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

/** `fetch` refuses some methods, and a body with others. */
function uncallableReason({ method, parameterSource, parameters, bodyParameter }: Endpoint): string | null {
  if (method === 'CONNECT' || method === 'TRACE') return `fetch does not send ${method}`;
  const hasBody = bodyParameter !== null || (parameterSource === 'body' && parameters.some(({ inPath }) => !inPath));
  return hasBody && (method === 'GET' || method === 'HEAD') ? `fetch sends no body with ${method}` : null;
}

/** Interfaces by what is in them, where they may be shared. */
class InterfaceRegistry {
  readonly #unique: boolean;
  readonly #byContent = new Map<string, Interface>();
  readonly #byRowType = new Map<string, Interface>();

  constructor(unique: boolean) {
    this.#unique = unique;
  }

  own(name: string, fields: readonly Field[]): Interface {
    const made = { name, fields };
    if (!this.#unique) return made;
    const content = contentKey(fields);
    const known = this.#byContent.get(content);
    if (known === undefined) this.#byContent.set(content, made);
    return known ?? made;
  }

  /** All operations on a table have one interface of its rows, and functions that return them have it too. */
  rows(name: string, endpoint: Endpoint, fields: readonly Field[]): Interface {
    const rowType = 'rowType' in endpoint.result ? endpoint.result.rowType : undefined;
    const known = rowType === undefined ? undefined : this.#byRowType.get(rowType);
    if (known !== undefined && hasSameColumns(known.fields, fields)) return known;
    const made = this.own(name, fields);
    if (rowType !== undefined && known === undefined && endpoint.table !== null) this.#byRowType.set(rowType, made);
    return made;
  }
}

function contentKey(fields: readonly Field[]): string {
  return JSON.stringify(fields.map(({ key, type, optional }) => [key, type, optional]));
}

/** The same but for NULLs, of which a function that returns rows of a table tells nothing. */
function hasSameColumns(left: readonly Field[], right: readonly Field[]): boolean {
  const plain = ({ key, type }: Field): string => JSON.stringify([key, type.replace(/ \| null$/, '')]);
  return left.length === right.length && left.every((field, index) => plain(field) === plain(right[index]!));
}

/** As the functions name them first. */
function usedInterfaces(functions: readonly ClientFunction[]): readonly Interface[] {
  return [...new Set(functions.flatMap(({ request, response }) => [request, response]))].filter((one) => one !== null);
}
