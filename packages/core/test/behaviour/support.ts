import { request, type IncomingHttpHeaders } from 'node:http';
import type { Answer } from '@pgway/testing';

/** The parts of a response that tests compare: all except the headers that every response has. */
export interface Plain {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

export function plain({ status, type, body }: Answer): Plain {
  return { status, type, body };
}

/** Returns the expected JSON response with status 200 and this body. */
export function json(body: string): Plain {
  return { status: 200, type: 'application/json', body };
}

/** Returns the expected text response with status 200. */
export function text(body: string): Plain {
  return { status: 200, type: 'text/plain; charset=utf-8', body };
}

export const noContent: Plain = { status: 204, type: null, body: '' };

/** A problem of RFC 9457 with its media type; the members are those of the body. */
export interface ProblemAnswer {
  readonly status: number;
  readonly mediaType: string | null;
  readonly problem: Readonly<Record<string, unknown>>;
}

export function problem(answer: Answer): ProblemAnswer {
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  return { status: answer.status, mediaType: answer.type, problem: body };
}

/** Returns the expected problem: its media type, the members of RFC 9457, and the status of the response. */
export function problemOf(status: number, members: Readonly<Record<string, unknown>> = {}): object {
  return {
    status,
    mediaType: 'application/problem+json',
    problem: { type: expectText, title: expectText, status, ...members },
  };
}

/** Matches any text that is not empty. */
export const expectText: unknown = { asymmetricMatch: (value: unknown) => typeof value === 'string' && value !== '' };

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface RawRequest {
  readonly method?: string;
  /** Sent unchanged; `fetch` would normalize it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

/** Sends a request that `fetch` rejects: a GET with a body, or an invalid path. */
export function sendRaw(url: string, { method = 'GET', path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { hostname, port, method, path, headers: { ...length, ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            rawHeaders: incoming.rawHeaders,
            body: Buffer.concat(chunks),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
