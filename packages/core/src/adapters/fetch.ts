import {
  cancelOnThrow,
  type AdapterOptions,
  type ByteSource,
  nosniffHeader,
  type GatewayResponse,
  type Handle,
} from '../http/response.ts';
import { Problem } from '../http/problem.ts';
import type { GatewayRequest } from '../http/request.ts';
import { BodyChunks, type ChunkSource } from './body-chunks.ts';
import { requestId } from './request-id.ts';

/** Properties of the connection that a WHATWG `Request` does not have. */
export interface FetchConnection {
  /** The peer address. Without it, no proxy is trusted, and callers have no address. */
  readonly remoteAddress?: string;
}

/** A handler for WHATWG fetch. `undefined`: the gateway has no endpoint for the path. */
export type FetchHandler = (request: Request, connection?: FetchConnection) => Promise<Response | undefined>;

/** A request of WHATWG fetch. */
export class FetchRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string | undefined;
  readonly secure: boolean;
  readonly #request: Request;
  #id: string | null = null;

  constructor(request: Request, connection?: FetchConnection) {
    const url = new URL(request.url);
    this.method = request.method;
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.secure = url.protocol === 'https:';
    this.remoteAddress = readAddress(connection);
    this.#request = request;
  }

  get raw(): Request {
    return this.#request;
  }

  get id(): string {
    return (this.#id ??= requestId(this.header('x-request-id')));
  }

  header(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // The constructor of `Request` sets no Host, which is the authority of its URL.
    return value ?? (name === 'host' ? new URL(this.#request.url).host : undefined);
  }

  headers(): readonly (readonly [string, string])[] {
    return [...this.#request.headers];
  }

  async body(limit: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.chunks()) {
      size += chunk.length;
      if (size > limit) throw new Problem('body-too-large', { detail: `The limit is ${limit} bytes.` });
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  chunks(): AsyncIterable<Uint8Array> {
    if (this.#request.bodyUsed) {
      throw new Problem('internal', {
        detail: 'The host has read the body before the gateway; mount the gateway before the parser.',
      });
    }
    const { body } = this.#request;
    return new BodyChunks(() => openChunks(body ?? new ReadableStream({ start: (controller) => controller.close() })));
  }

  onDisconnect(listener: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  }
}

function openChunks(body: NonNullable<Request['body']>): ChunkSource {
  const reader = body.getReader();
  return { next: () => reader.read() as ReturnType<ChunkSource['next']>, return: () => reader.cancel() };
}

/** Hosts may pass a second argument of another type, such as the environment of Workers. */
function readAddress(connection: FetchConnection | undefined): string | undefined {
  const address: unknown = connection?.remoteAddress;
  return typeof address === 'string' ? address : undefined;
}

/** Returns the gateway as a fetch handler, for Hono, Bun, Deno and Next.js. */
export function fetchHandler(
  handle: Handle,
  { requestIdHeader }: AdapterOptions = { requestIdHeader: false },
): FetchHandler {
  return async (webRequest, connection) => {
    const request = new FetchRequest(webRequest, connection);
    const gatewayResponse = await handle(request);
    if (gatewayResponse === undefined) return undefined;
    const response = cancelOnThrow(gatewayResponse, () => toResponse(gatewayResponse));
    if (requestIdHeader) response.headers.set('x-request-id', request.id);
    return response;
  };
}

function toResponse(response: GatewayResponse): Response {
  const headers = new Headers();
  for (let index = 0; index < response.headers.length; index += 2) {
    headers.append(response.headers[index]!, response.headers[index + 1]!);
  }
  headers.set(...nosniffHeader);
  const body = response.kind === 'stream' ? readable(response.body) : response.body;
  return new Response(body as ConstructorParameters<typeof Response>[0], { status: response.status, headers });
}

function readable(source: ByteSource): ReadableStream<Uint8Array> {
  let started = false;
  return new ReadableStream<Uint8Array>({
    pull(controller): void {
      if (started) return source.resume();
      started = true;
      source.pipe({
        write: (chunk) => {
          controller.enqueue(chunk);
          return (controller.desiredSize ?? 0) > 0;
        },
        end: (chunk) => {
          if (chunk.length > 0) controller.enqueue(chunk);
          controller.close();
        },
        fail: (error) => controller.error(error),
      });
    },
    cancel: () => source.cancel(),
  });
}
