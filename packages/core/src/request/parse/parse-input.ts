import { isUtf8 } from 'node:buffer';
import { Problem } from '../../http/problem.ts';
import type { GatewayRequest } from '../../http/request.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { JsonError, type JsonSlice, readMembers, readJson } from '../../http/json-reader.ts';
import { parseQueryString } from './query-string.ts';

/** What the client has sent, by key, before anyone asks whether the endpoint knows it. */
export type RequestInput =
  | {
      readonly source: 'query';
      readonly values: ReadonlyMap<string, readonly string[]>;
      /** The body as it is, for the parameter that takes it; null when there is none. */
      readonly body: string | null;
    }
  | { readonly source: 'body'; readonly values: ReadonlyMap<string, JsonSlice> };

const nothing: RequestInput = { source: 'body', values: new Map() };

/**
 * Reads what the client has sent from where the endpoint wants it; the other place is not looked at.
 * @throws Problem for a body or query that cannot be read: 400, 413, 415
 */
function collect(request: GatewayRequest, endpoint: Endpoint, limit: number): RequestInput | Promise<RequestInput> {
  if (endpoint.parameterSource === 'body') return collectBody(request, limit);
  const values = parseQueryString(request.query);
  // What is at hand costs no turn.
  return endpoint.bodyParameter === null ? { source: 'query', values, body: null } : withBody(values, request, limit);
}

/**
 * The same, with what an earlier attempt has read where the endpoint wants it from the same place.
 * @throws what `collect` throws
 */
export function parseInput(
  earlier: RequestInput | null,
  request: GatewayRequest,
  endpoint: Endpoint,
  limit: number,
): RequestInput | Promise<RequestInput> {
  if (earlier === null || earlier.source !== endpoint.parameterSource) return collect(request, endpoint, limit);
  return earlier;
}

async function collectBody(request: GatewayRequest, limit: number): Promise<RequestInput> {
  requireJson(request);
  const text = await readText(request, limit);
  return text === null || text.trim() === '' ? nothing : parse(text);
}

async function withBody(
  values: ReadonlyMap<string, readonly string[]>,
  request: GatewayRequest,
  limit: number,
): Promise<RequestInput> {
  return { source: 'query', values, body: await readText(request, limit) };
}

/** The whole body; null when there is none. */
async function readText(request: GatewayRequest, limit: number): Promise<string | null> {
  refuseCompressed(request);
  const body = await request.body(limit);
  if (body.length === 0) return null;
  if (!isUtf8(body)) throw new Problem('malformed-body', { detail: 'The body is not valid UTF-8.' });
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

function refuseCompressed(request: GatewayRequest): void {
  const encoding = request.header('content-encoding');
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new Problem('unsupported-media-type', {
    detail: `A body with content-encoding "${encoding}" is not accepted.`,
  });
}

/** `text/plain` is what `fetch` says of a body where its caller says nothing. Forms of other sites send it too: the CSRF guard refuses those. */
function requireJson(request: GatewayRequest): void {
  const type = request.header('content-type');
  if (type === undefined || type.trim() === '') return;
  const essence = type.split(';', 1)[0]!.trim().toLowerCase();
  if (essence === 'application/json' || essence === 'text/plain' || /^[\w.+-]+\/[\w.-]+\+json$/.test(essence)) return;
  throw new Problem('unsupported-media-type', { detail: `The body is "${essence}"; send application/json.` });
}

function parse(text: string): RequestInput {
  try {
    const document = readJson(text.startsWith('\ufeff') ? text.slice(1) : text);
    if (document.kind !== 'object') {
      throw new Problem('body-not-an-object', {
        detail: `The body is ${article(document.kind)}; send an object with one key per parameter.`,
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

function article(kind: string): string {
  return kind === 'null' ? 'null' : `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
