import type { BodyReader, Endpoint, EndpointParameter, GatewayRequest, RequestInput } from '@pgway/core';
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
  if (endpoints[0]!.method === 'GET') {
    return { source: 'body', values: textArguments(parseQueryString(request.query), endpoints), hasTexts: true };
  }
  const type = (request.header('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const whole = wholeBodyParameter(endpoints);
  if (whole !== null && wholeBodies[type]?.includes(whole.type.builtin ?? '') === true) {
    return { source: 'body', values: new Map([[whole.key, await readWhole(type, body)]]), hasTexts: true };
  }
  if (type === 'application/x-www-form-urlencoded') {
    const fields = parseQueryString((await body.text()) ?? '');
    return { source: 'body', values: textArguments(fields, endpoints, true), hasTexts: true };
  }
  if (whole === null || whole.type.json !== 'json') return { source: 'body', values: await body.members() };
  const document = await body.json();
  return { source: 'body', values: new Map(document === null ? [] : [[whole.key, document]]) };
}

/** The types of a single parameter without a name that the whole body of a media type is the value of. */
const wholeBodies: Readonly<Partial<Record<string, readonly string[]>>> = {
  'text/plain': ['text'],
  'text/xml': ['xml'],
  'application/xml': ['xml'],
  'application/octet-stream': ['bytea'],
};

/** The whole body is the value of the only parameter, if that has no name. */
function wholeBodyParameter(endpoints: readonly Endpoint[]): EndpointParameter | null {
  const [parameter, ...others] = endpoints.length === 1 ? endpoints[0]!.parameters : [];
  return parameter?.unnamed === true && others.length === 0 ? parameter : null;
}

async function readWhole(type: string, body: BodyReader): Promise<JsonSlice> {
  const text =
    type === 'application/octet-stream'
      ? `\\x${Buffer.from(await body.bytes()).toString('hex')}`
      : ((await body.text()) ?? '');
  return readJson(JSON.stringify(text));
}

/**
 * Returns the texts of arguments. Of a repeated key, the last one counts, as in PostgREST.
 * @param keepsOthers whether further keys are arguments too, so that none of the functions has them
 */
function textArguments(
  texts: ReadonlyMap<string, readonly string[]>,
  endpoints: readonly Endpoint[],
  keepsOthers = false,
): ReadonlyMap<string, JsonSlice> {
  const variadic = new Map(
    endpoints.flatMap(({ parameters }) => parameters.map(({ name, variadic: is }) => [name, is] as const)),
  );
  const values = new Map<string, JsonSlice>();
  for (const [name, each] of texts) {
    const isVariadic = variadic.get(name);
    if (isVariadic === undefined && !keepsOthers) continue;
    values.set(name, readJson(JSON.stringify(isVariadic === true ? each : each.at(-1)!)));
  }
  return values;
}
