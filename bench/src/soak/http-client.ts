import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';

export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Destroys the connection: so many milliseconds after the request was sent, or with the first bytes of the answer's body. */
  readonly leave?: { readonly afterMs: number } | 'at-first-bytes' | 'in-request-body';
  /** Takes nothing from the socket for so long, once the answer has begun. */
  readonly pauseMs?: number;
}

export type HttpResult =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      readonly body: Buffer;
    }
  /** The connection ended before the whole answer had come; the status is null when nothing had. */
  | { readonly kind: 'broken'; readonly status: number | null; readonly reason: string }
  /** The client itself has left. */
  | { readonly kind: 'left' }
  | { readonly kind: 'too-late' };

/** Requests over kept connections, each with a bound on the time until its whole answer is there. */
export class HttpClient {
  readonly origin: string;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  constructor(origin: string, connections: number, timeoutMs: number) {
    this.origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
    this.#timeoutMs = timeoutMs;
  }

  async send(sending: HttpRequest): Promise<HttpResult> {
    return new Promise((resolve) => {
      const request = httpRequest(this.origin + sending.path, {
        method: sending.method,
        headers: headersOf(sending),
        agent: this.#agent,
      });
      let settled = false;
      const finish = (reply: HttpResult): void => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        if (reply.kind !== 'answer') request.destroy();
        resolve(reply);
      };
      const timer = setTimeout(() => finish({ kind: 'too-late' }), this.#timeoutMs);
      request.on('error', (error) => finish({ kind: 'broken', status: null, reason: error.message }));
      request.on('response', (response) => receive(response, sending, finish));
      write(request, sending, finish);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function headersOf({ headers, body }: HttpRequest): Record<string, string | number> {
  return body === undefined ? { ...headers } : { ...headers, 'content-length': Buffer.byteLength(body) };
}

type Finish = (reply: HttpResult) => void;

function write(request: ClientRequest, { body, leave }: HttpRequest, finish: Finish): void {
  if (leave === 'in-request-body' && body !== undefined) {
    request.write(body.slice(0, body.length / 2), () => finish({ kind: 'left' }));
    return;
  }
  request.end(body);
  if (typeof leave === 'object') setTimeout(() => finish({ kind: 'left' }), leave.afterMs);
}

function receive(response: IncomingMessage, { leave, pauseMs }: HttpRequest, finish: Finish): void {
  const chunks: Buffer[] = [];
  const status = response.statusCode ?? 0;
  response.on('data', (chunk: Buffer) => {
    if (leave === 'at-first-bytes') {
      finish({ kind: 'left' });
      return;
    }
    if (pauseMs !== undefined && chunks.length === 0) {
      response.pause();
      setTimeout(() => response.resume(), pauseMs);
    }
    chunks.push(chunk);
  });
  response.on('end', () => {
    if (response.complete) finish({ kind: 'answer', status, headers: response.headers, body: Buffer.concat(chunks) });
    else finish({ kind: 'broken', status, reason: 'the answer ended early' });
  });
  response.on('error', (error) => finish({ kind: 'broken', status, reason: error.message }));
  response.on('close', () => finish({ kind: 'broken', status, reason: 'the connection was closed' }));
}
