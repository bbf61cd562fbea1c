import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';

export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Destroys the connection: after milliseconds, at the first bytes of the response body, or in the middle of the request body. */
  readonly disconnect?: { readonly afterMs: number } | 'at-first-bytes' | 'in-request-body';
  /** Milliseconds that the client pauses after the first bytes of the response body. */
  readonly pauseMs?: number;
}

export type HttpResult =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      readonly body: Buffer;
    }
  /** The connection ended before the end of the response. The status is null before its headers. */
  | { readonly kind: 'broken'; readonly status: number | null; readonly reason: string }
  /** The client has disconnected. */
  | { readonly kind: 'disconnected' }
  | { readonly kind: 'timeout' };

/** An HTTP client with keep-alive connections and a time limit per request. */
export class HttpClient {
  readonly origin: string;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  constructor(origin: string, connections: number, timeoutMs: number) {
    this.origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
    this.#timeoutMs = timeoutMs;
  }

  async send(requestOptions: HttpRequest): Promise<HttpResult> {
    return new Promise((resolve) => {
      const request = httpRequest(this.origin + requestOptions.path, {
        method: requestOptions.method,
        headers: requestHeaders(requestOptions),
        agent: this.#agent,
      });
      let settled = false;
      const finish = (reply: HttpResult): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        if (reply.kind !== 'response') request.destroy();
        resolve(reply);
      };
      const timer = setTimeout(() => finish({ kind: 'timeout' }), this.#timeoutMs);
      request.on('error', (error) => finish({ kind: 'broken', status: null, reason: error.message }));
      request.on('response', (response) => receive(response, requestOptions, finish));
      write(request, requestOptions, finish);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function requestHeaders({ headers, body }: HttpRequest): Record<string, string | number> {
  return body === undefined ? { ...headers } : { ...headers, 'content-length': Buffer.byteLength(body) };
}

type Finish = (reply: HttpResult) => void;

function write(request: ClientRequest, { body, disconnect }: HttpRequest, finish: Finish): void {
  if (disconnect === 'in-request-body' && body !== undefined) {
    request.write(body.slice(0, body.length / 2), () => finish({ kind: 'disconnected' }));
    return;
  }
  request.end(body);
  if (typeof disconnect === 'object') setTimeout(() => finish({ kind: 'disconnected' }), disconnect.afterMs);
}

function receive(response: IncomingMessage, { disconnect, pauseMs }: HttpRequest, finish: Finish): void {
  const chunks: Buffer[] = [];
  const status = response.statusCode ?? 0;
  response.on('data', (chunk: Buffer) => {
    if (disconnect === 'at-first-bytes') {
      finish({ kind: 'disconnected' });
      return;
    }
    if (pauseMs !== undefined && chunks.length === 0) {
      response.pause();
      setTimeout(() => response.resume(), pauseMs);
    }
    chunks.push(chunk);
  });
  response.on('end', () => {
    if (response.complete) finish({ kind: 'response', status, headers: response.headers, body: Buffer.concat(chunks) });
    else finish({ kind: 'broken', status, reason: 'the response ended early' });
  });
  response.on('error', (error) => finish({ kind: 'broken', status, reason: error.message }));
  response.on('close', () => finish({ kind: 'broken', status, reason: 'the connection was closed' }));
}
