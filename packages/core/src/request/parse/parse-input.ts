import { isUtf8 } from 'node:buffer';
import { queryMediaTypes, queryMethod } from '../../http/methods.ts';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { CompiledEndpoint } from '../compiled-endpoint.ts';
import type { BodyReader } from '../../ports/dialect.ts';
import type { RequestInput } from '../../ports/request-input.ts';
import { JsonError, readJson } from '../../http/json-reader.ts';
import { type JsonSlice, readElements, readMembers } from '../../http/json-slice.ts';
import { parseForm, parseQueryString } from '../../http/query-string.ts';

const formType = 'application/x-www-form-urlencoded';
const acceptQuery = ['accept-query', queryMediaTypes.join(', ')];

/** One of the endpoints that the caller may call. */
type Candidate = Pick<CompiledEndpoint, 'endpoint' | 'dialect'>;

/** The text of the body; null without one, and for a body of parameters. */
export function bodyOf(input: RequestInput): string | null {
  return input.source === 'query' ? input.body : null;
}

function readInput(
  request: GatewayRequest,
  candidates: readonly Candidate[],
  limit: number,
): RequestInput | Promise<RequestInput> {
  const { endpoint, dialect } = candidates[0]!;
  if (dialect !== null) {
    const endpoints = candidates.map((candidate) => candidate.endpoint);
    return dialect.readInput(request, endpoints, bodyReader(request, limit));
  }
  if (request.method === queryMethod) return readQueryContent(request, limit);
  if (endpoint.parameterSource === 'body') {
    return acceptsRows(endpoint) ? readObjectOrRows(request, limit) : readJsonBody(request, limit);
  }
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
  if (earlier === null) return readInput(request, candidates, limit);
  const isSame = request.method === queryMethod || earlier.source === candidates[0]!.endpoint.parameterSource;
  return isSame ? earlier : readInput(request, candidates, limit);
}

function bodyReader(request: GatewayRequest, limit: number): BodyReader {
  return {
    bytes: () => readBytes(request, limit),
    text: () => readText(request, limit),
    json: () => readJsonDocument(request, limit),
    members: () => readJsonMembers(request, limit),
  };
}

async function readJsonBody(request: GatewayRequest, limit: number): Promise<RequestInput> {
  return { source: 'body', values: await readJsonMembers(request, limit) };
}

/**
 * Reads the parameters of a request with the method QUERY from its body (RFC 10008).
 * @throws Problem 400 without a media type, and for a query string, which no body could be merged with; 415 for another media type
 */
async function readQueryContent(request: GatewayRequest, limit: number): Promise<RequestInput> {
  if (request.query !== '') {
    throw new Problem('unknown-parameter', {
      detail: 'A request with the method QUERY has its parameters in the body; remove the query string.',
    });
  }
  const type = mediaTypeOf(request);
  if (type === null) {
    const detail = `A request with the method QUERY needs a Content-Type; send ${queryMediaTypes.join(' or ')}.`;
    throw new Problem('malformed-body', { detail, headers: acceptQuery });
  }
  if (type === formType) {
    const form = (await readText(request, limit)) ?? '';
    return { source: 'query', values: parseForm(form), body: null, form };
  }
  if (!isJsonType(type)) {
    const detail = `The body is "${type}"; send ${queryMediaTypes.join(' or ')}.`;
    throw new Problem('unsupported-media-type', { detail, headers: acceptQuery });
  }
  return readJsonBody(request, limit);
}

const noMembers: ReadonlyMap<string, JsonSlice> = new Map();

async function readJsonMembers(request: GatewayRequest, limit: number): Promise<ReadonlyMap<string, JsonSlice>> {
  requireJson(request);
  const text = await readText(request, limit);
  if (isBlank(text)) return noMembers;
  return requireObject(parseDocument(text));
}

/** @throws Problem `body-not-an-object` */
function requireObject(document: JsonSlice): ReadonlyMap<string, JsonSlice> {
  if (document.kind === 'object') return readMembers(document);
  throw new Problem('body-not-an-object', {
    detail: `The body is ${withArticle(document.kind)}; send an object with one key per parameter.`,
  });
}

/** Whether requests may have several rows: an array of objects. */
function acceptsRows({ table }: CompiledEndpoint['endpoint']): boolean {
  return table?.operation.startsWith('insert') === true;
}

/** Of one request: a row without a value costs three bytes of the body, and a hundred times as much memory. */
const maxRows = 10_000;

/** @throws Problem `malformed-body` for too many rows; `body-not-an-object` for an array without rows, and for an element that is not an object */
async function readObjectOrRows(request: GatewayRequest, limit: number): Promise<RequestInput> {
  const document = await readJsonDocument(request, limit);
  if (document?.kind !== 'array') {
    return { source: 'body', values: document === null ? noMembers : requireObject(document) };
  }
  const elements = readElements(document);
  if (elements.length > maxRows) {
    throw new Problem('malformed-body', {
      detail: `The body has ${elements.length} rows; the limit is ${maxRows}. Send several requests.`,
    });
  }
  const rows = elements.map((element, index) => {
    if (element.kind === 'object') return readMembers(element);
    throw new Problem('body-not-an-object', {
      detail: `Element ${index} of the body is ${withArticle(element.kind)}; send an object for each row.`,
      members: { pointer: `/${index}` },
    });
  });
  if (rows.length > 0) return { source: 'body', values: noMembers, rows };
  throw new Problem('body-not-an-object', { detail: 'The body is an array without rows; send at least one object.' });
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

function readBytes(request: GatewayRequest, limit: number): Promise<Uint8Array> {
  refuseCompressed(request);
  return request.body(limit);
}

/** The text of the body; null when it is empty. */
async function readText(request: GatewayRequest, limit: number): Promise<string | null> {
  const body = await readBytes(request, limit);
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
  const type = mediaTypeOf(request);
  if (type === null || type === 'text/plain' || isJsonType(type)) return;
  throw new Problem('unsupported-media-type', { detail: `The body is "${type}"; send application/json.` });
}

/** Returns the media type of the body in lower case, without parameters; null without one. */
function mediaTypeOf(request: GatewayRequest): string | null {
  const type = request.header('content-type');
  return type === undefined || type.trim() === '' ? null : type.split(';', 1)[0]!.trim().toLowerCase();
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || /^[\w.+-]+\/[\w.-]+\+json$/.test(type);
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
