import { isUtf8 } from 'node:buffer';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { JsonError, readJson } from '../../http/json-reader.ts';
import { type JsonSlice, readMembers } from '../../http/json-slice.ts';
import { parseQueryString } from '../../http/query-string.ts';

/** The client's values by key, not yet compared with the endpoint's parameters. */
export type RequestInput =
  | {
      readonly source: 'query';
      readonly values: ReadonlyMap<string, readonly string[]>;
      /** The text of the body, for the parameter or the dialect that takes it; null without one. */
      readonly body: string | null;
    }
  | { readonly source: 'body'; readonly values: ReadonlyMap<string, JsonSlice> };

/** One of the endpoints that the caller may call. */
interface Candidate {
  readonly endpoint: Endpoint;
}

/** The text of the body; null without one, and for a body of parameters. */
export function bodyOf(input: RequestInput): string | null {
  return input.source === 'query' ? input.body : null;
}

const emptyInput: RequestInput = { source: 'body', values: new Map() };

function readInput(
  request: GatewayRequest,
  candidates: readonly Candidate[],
  limit: number,
): RequestInput | Promise<RequestInput> {
  const { endpoint } = candidates[0]!;
  if (endpoint.dialect !== undefined) {
    if (endpoint.table === null) return readArguments(request, candidates, limit);
    return readDialectInput(request, endpoint, limit);
  }
  if (endpoint.parameterSource === 'body') return readJsonBody(request, limit);
  const values = parseQueryString(request.query);
  // Not async: without a body, the request waits for nothing.
  return endpoint.bodyParameter === null
    ? { source: 'query', values, body: null }
    : readQueryAndBody(values, request, limit);
}

/**
 * Reads the query string or the JSON body, whichever the endpoint takes its parameters from.
 * @param earlier the input of an earlier attempt, reused if it has the same source
 * @throws Problem 400, 413 or 415 for input that cannot be read
 */
export function parseInput(
  earlier: RequestInput | null,
  request: GatewayRequest,
  candidates: readonly Candidate[],
  limit: number,
): RequestInput | Promise<RequestInput> {
  if (earlier === null || earlier.source !== candidates[0]!.endpoint.parameterSource)
    return readInput(request, candidates, limit);
  return earlier;
}

/** The query builder reads the query string and the text of the body itself. */
function readDialectInput(
  request: GatewayRequest,
  { method }: Endpoint,
  limit: number,
): RequestInput | Promise<RequestInput> {
  if (method === 'GET' || method === 'DELETE') return { source: 'query', values: new Map(), body: null };
  return readQueryAndBody(new Map(), request, limit);
}

/** Reads the arguments of a function in a dialect. */
function readArguments(
  request: GatewayRequest,
  candidates: readonly Candidate[],
  limit: number,
): RequestInput | Promise<RequestInput> {
  if (candidates[0]!.endpoint.method === 'GET') return { source: 'body', values: queryArguments(request, candidates) };
  const [parameter, ...others] = candidates.length === 1 ? candidates[0]!.endpoint.parameters : [];
  const isWholeBody = parameter?.unnamed === true && parameter.type.json === 'json' && others.length === 0;
  return isWholeBody ? readBodyArgument(request, parameter.key, limit) : readJsonBody(request, limit);
}

/** Parameters of a query string that are arguments of one of the candidates. The others are filters. */
function queryArguments(request: GatewayRequest, candidates: readonly Candidate[]): ReadonlyMap<string, JsonSlice> {
  const variadic = new Map(
    candidates.flatMap(({ endpoint }) => endpoint.parameters.map(({ name, variadic: is }) => [name, is] as const)),
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

/** The whole body is the value of the only parameter, which has no name. */
async function readBodyArgument(request: GatewayRequest, key: string, limit: number): Promise<RequestInput> {
  const document = await readJsonDocument(request, limit);
  return document === null ? emptyInput : { source: 'body', values: new Map([[key, document]]) };
}

async function readJsonBody(request: GatewayRequest, limit: number): Promise<RequestInput> {
  requireJson(request);
  const text = await readText(request, limit);
  if (isBlank(text)) return emptyInput;
  const document = parseDocument(text);
  if (document.kind === 'object') return { source: 'body', values: readMembers(document) };
  throw new Problem('body-not-an-object', {
    detail: `The body is ${withArticle(document.kind)}; send an object with one key per parameter.`,
  });
}

/**
 * Reads the JSON value in the body of a request; null for an empty body.
 * @throws Problem 400, 413 or 415 for a body that cannot be read
 */
export async function readJsonDocument(request: GatewayRequest, limit: number): Promise<JsonSlice | null> {
  requireJson(request);
  const text = await readText(request, limit);
  return isBlank(text) ? null : parseDocument(text);
}

async function readQueryAndBody(
  values: ReadonlyMap<string, readonly string[]>,
  request: GatewayRequest,
  limit: number,
): Promise<RequestInput> {
  return { source: 'query', values, body: await readText(request, limit) };
}

/** The text of the body; null when it is empty. */
async function readText(request: GatewayRequest, limit: number): Promise<string | null> {
  refuseCompressed(request);
  const body = await request.body(limit);
  if (body.length === 0) return null;
  if (!isUtf8(body)) throw new Problem('malformed-body', { detail: 'The body is not valid UTF-8.' });
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

/** @throws Problem 415 */
export function refuseCompressed(request: GatewayRequest): void {
  const encoding = request.header('content-encoding');
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new Problem('unsupported-media-type', {
    detail: `A body with content-encoding "${encoding}" is not accepted.`,
  });
}

/** Accepts `text/plain` too, the default of `fetch`. The CSRF guard refuses forms of other sites, which can send it as well. */
function requireJson(request: GatewayRequest): void {
  const type = request.header('content-type');
  if (type === undefined || type.trim() === '') return;
  const essence = type.split(';', 1)[0]!.trim().toLowerCase();
  if (essence === 'application/json' || essence === 'text/plain' || /^[\w.+-]+\/[\w.-]+\+json$/.test(essence)) return;
  throw new Problem('unsupported-media-type', { detail: `The body is "${essence}"; send application/json.` });
}

function isBlank(text: string | null): text is null | '' {
  return text === null || text.trim() === '';
}

/** @throws Problem `malformed-json` */
function parseDocument(text: string): JsonSlice {
  try {
    return readJson(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new Problem('malformed-json', {
      detail: `The body is not valid JSON: ${error.message} at position ${error.position}.`,
      members: { position: error.position },
    });
  }
}

function withArticle(kind: string): string {
  return kind === 'null' ? 'null' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
