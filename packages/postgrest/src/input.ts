import type { BodyReader, Endpoint, GatewayRequest, RequestInput } from '@pgway/core';
import { type JsonSlice, parseQueryString, readJson } from '@pgway/core/internal';

/** Reads the arguments of a function, or the body of a write to a table, whose query builder reads the query string itself. */
export function readInput(
  request: GatewayRequest,
  endpoints: readonly Endpoint[],
  body: BodyReader,
): RequestInput | Promise<RequestInput> {
  const { table, method } = endpoints[0]!;
  if (table === null) return readArguments(request, endpoints, body);
  if (method === 'GET' || method === 'DELETE') return { source: 'query', values: new Map(), body: null };
  return readText(body);
}

async function readText(body: BodyReader): Promise<RequestInput> {
  return { source: 'query', values: new Map(), body: await body.text() };
}

async function readArguments(
  request: GatewayRequest,
  endpoints: readonly Endpoint[],
  body: BodyReader,
): Promise<RequestInput> {
  if (endpoints[0]!.method === 'GET') return { source: 'body', values: queryArguments(request, endpoints) };
  const [parameter, ...others] = endpoints.length === 1 ? endpoints[0]!.parameters : [];
  const isWholeBody = parameter?.unnamed === true && parameter.type.json === 'json' && others.length === 0;
  if (!isWholeBody) return { source: 'body', values: await body.members() };
  // The whole body is the value of the only parameter, which has no name.
  const document = await body.json();
  return { source: 'body', values: new Map(document === null ? [] : [[parameter.key, document]]) };
}

/** Parameters of a query string that are arguments of one of the functions. The others are filters. */
function queryArguments(request: GatewayRequest, endpoints: readonly Endpoint[]): ReadonlyMap<string, JsonSlice> {
  const variadic = new Map(
    endpoints.flatMap(({ parameters }) => parameters.map(({ name, variadic: is }) => [name, is] as const)),
  );
  const values = new Map<string, JsonSlice>();
  for (const [name, texts] of parseQueryString(request.query)) {
    const isVariadic = variadic.get(name);
    if (isVariadic === undefined) continue;
    // The last text of a repeated key, as in PostgREST.
    values.set(name, readJson(JSON.stringify(isVariadic ? texts : texts.at(-1)!)));
  }
  return values;
}
