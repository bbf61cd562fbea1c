import type { GatewayRequest } from '../http/request.ts';
import { Problem } from '../http/problem.ts';

/** The parts of a request that differ from those of the client's request. */
export interface DerivedRequestOptions extends Partial<Pick<GatewayRequest, 'method' | 'path' | 'query' | 'onEvent'>> {
  /** The header `Accept`; absent: the header is left out. */
  readonly accept?: string;
  /** The header `Idempotency-Key`; null: the header is left out. */
  readonly idempotencyKey?: string | null;
  /** Further headers, with lower-case names, instead of those of the client. */
  readonly ownHeaders?: readonly (readonly [name: string, value: string])[];
  readonly body?: { readonly contentType: string; readonly text: string } | null;
  /** Aborted when the client no longer waits. Absent: the client waits until the end. */
  readonly signal?: AbortSignal;
}

/**
 * Headers about the client's own message, or about a response to it. Cookies are left out too: browsers send them with requests
 * of other sites.
 */
const omittedHeaders =
  /^(?:content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept|if-.*|range|prefer|cookie|mcp-.*|idempotency-key|x-gateway-id)$/;

/** Returns a request in the name of a client: address, credentials and most headers are those of the client's own request. */
export function deriveRequest(client: GatewayRequest, options: DerivedRequestOptions): GatewayRequest {
  const { method, path, query, body = null, signal, onEvent } = options;
  const bytes = body === null ? new Uint8Array() : Buffer.from(body.text);
  const own = headersOf(options, bytes.length);
  const isReplaced = (name: string): boolean => omittedHeaders.test(name) || own.some(([key]) => key === name);
  return {
    id: client.id,
    ...(client.raw === undefined ? {} : { raw: client.raw }),
    connection: client.connection,
    method: method ?? client.method,
    path: path ?? client.path,
    query: query ?? client.query,
    remoteAddress: client.remoteAddress,
    secure: client.secure,
    header: (name) => own.find(([key]) => key === name)?.[1] ?? (isReplaced(name) ? undefined : client.header(name)),
    headers: () => [...client.headers().filter(([name]) => !isReplaced(name.toLowerCase())), ...own],
    body: (limit) =>
      bytes.length > limit
        ? Promise.reject(new Problem('body-too-large', { detail: `The limit is ${limit} bytes.` }))
        : Promise.resolve(bytes),
    chunks: () => chunksOf(bytes),
    onDisconnect: (listener) => {
      if (signal?.aborted === true) listener();
      else signal?.addEventListener('abort', listener, { once: true });
    },
    ...(onEvent === undefined ? {} : { onEvent }),
  };
}

function headersOf(
  { accept, idempotencyKey = null, ownHeaders = [], body = null }: DerivedRequestOptions,
  length: number,
): readonly (readonly [name: string, value: string])[] {
  return [
    ...ownHeaders,
    ...(accept === undefined ? [] : [['accept', accept] as const]),
    ...(idempotencyKey === null ? [] : [['idempotency-key', idempotencyKey] as const]),
    ...(body === null
      ? []
      : [['content-type', body.contentType] as const, ['content-length', String(length)] as const]),
  ];
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
