import { isUtf8 } from 'node:buffer';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { JsonError, type JsonSlice, readMembers, readJson } from '../../http/json-reader.ts';
import { parseQueryString } from './query-string.ts';

/** The client's values by key, not yet compared with the endpoint's parameters. */
export type RequestInput =
  | {
      readonly source: 'query';
      readonly values: ReadonlyMap<string, readonly string[]>;
      /** The text of the body, for the parameter that takes it; null without one. */
      readonly body: string | null;
    }
  | { readonly source: 'body'; readonly values: ReadonlyMap<string, JsonSlice> };

const emptyInput: RequestInput = { source: 'body', values: new Map() };

function readInput(request: GatewayRequest, endpoint: Endpoint, limit: number): RequestInput | Promise<RequestInput> {
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
  endpoint: Endpoint,
  limit: number,
): RequestInput | Promise<RequestInput> {
  if (earlier === null || earlier.source !== endpoint.parameterSource) return readInput(request, endpoint, limit);
  return earlier;
}

async function readJsonBody(request: GatewayRequest, limit: number): Promise<RequestInput> {
  requireJson(request);
  const text = await readText(request, limit);
  return text === null || text.trim() === '' ? emptyInput : parseJsonObject(text);
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

function parseJsonObject(text: string): RequestInput {
  try {
    const document = readJson(text.startsWith('\ufeff') ? text.slice(1) : text);
    if (document.kind !== 'object') {
      throw new Problem('body-not-an-object', {
        detail: `The body is ${withArticle(document.kind)}; send an object with one key per parameter.`,
      });
    }
    return { source: 'body', values: readMembers(document) };
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
