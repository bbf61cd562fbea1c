import type { BodyReader, Endpoint, GatewayRequest, RequestInput } from '@pgway/core';
import { functionOf } from './rpc/function-target.ts';
import { readArguments } from './rpc/read-arguments.ts';

/** Reads the arguments of a function, or the body of a write to a table, whose query builder reads the query string itself. */
export function readInput(
  request: GatewayRequest,
  endpoints: readonly Endpoint[],
  body: BodyReader,
): RequestInput | Promise<RequestInput> {
  const { table, method } = endpoints[0]!;
  if (functionOf(endpoints[0]!) !== undefined) return readArguments(request, endpoints, body);
  const hasBody = table !== null && method !== 'GET' && method !== 'DELETE';
  if (!hasBody) return { source: 'query', values: new Map(), body: null };
  return readText(body);
}

async function readText(body: BodyReader): Promise<RequestInput> {
  return { source: 'query', values: new Map(), body: await body.text() };
}
