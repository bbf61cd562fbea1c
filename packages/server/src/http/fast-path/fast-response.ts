import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteSource, GatewayResponse, ReusableMemory, WholeResponse } from '@pgway/core';
import { nosniffHeader } from '@pgway/core/internal';
import type { FastRequest } from './fast-request.ts';

/** Bytes. Up to this size, copying a body into the write of the headers is cheaper than a second buffer. */
const smallBodyBytes = 8 * 1024;

const token = /^[\w!#$%&'*+.^`|~-]+$/;
/** As `node:http`: others could end a header (response splitting). */
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Statuses whose responses never have a body. `node:http` sends `Content-Length: 0` with 205. */
const bodiless: ReadonlySet<number> = new Set([204, 304]);

const failure: WholeResponse = {
  kind: 'whole',
  status: 500,
  headers: ['content-type', 'application/problem+json'],
  body: JSON.stringify({ type: 'about:blank', title: 'Internal server error', status: 500 }),
};

const lastChunk = '0\r\n\r\n';

/** How the connection continues. */
export interface ResponseContext {
  readonly socket: Socket;
  readonly keepAliveSeconds: number;
  /** Whether the connection ends with this response. */
  readonly closesConnection: () => boolean;
  /** The response has been written, or its connection has ended. */
  readonly closed: () => void;
}

/**
 * A response of the fast path: the members of `ServerResponse` that the limits of connections, the access log, metrics and traces read, and
 * the writes.
 */
export class FastResponse {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  shouldKeepAlive: boolean;
  headersSent = false;
  statusCode = 200;
  /** Bytes of the body so far. */
  bodySize = 0;
  writableFinished = false;
  closed = false;
  readonly #request: FastRequest;
  readonly #context: ResponseContext;
  readonly #closeListeners: (() => void)[] = [];
  readonly #disconnectListeners: (() => void)[] = [];
  #source: ByteSource | null = null;

  constructor(request: FastRequest, keepsAlive: boolean, context: ResponseContext) {
    this.req = request.raw;
    this.socket = context.socket;
    this.shouldKeepAlive = keepsAlive;
    this.#request = request;
    this.#context = context;
  }

  on(event: 'close', listener: (this: this) => void): this {
    if (event === 'close') this.#closeListeners.push(listener.bind(this));
    return this;
  }

  onDisconnect(listener: () => void): void {
    if (!this.closed) this.#disconnectListeners.push(listener);
    // The client has disconnected during a hook.
    else if (!this.writableFinished) listener();
  }

  /** Ends the connection without an answer, or with what has been sent of it. Does nothing after the response: the connection has others. */
  destroy(): this {
    if (!this.closed) this.socket.destroy();
    return this;
  }

  /** The connection has ended. */
  abort(): void {
    if (this.closed) return;
    this.#source?.cancel();
    for (const listener of this.#disconnectListeners) listener();
    this.#close();
  }

  /** The socket takes bytes again. */
  resume(): void {
    this.#source?.resume();
  }

  /** Ends a response that cannot be made or sent. */
  fail(): void {
    if (this.headersSent) this.destroy();
    else this.send(null);
  }

  /** Sends the response of the gateway; null: it has failed. */
  send(response: GatewayResponse | null): void {
    const sent = response ?? failure;
    if (response === null) this.shouldKeepAlive = false;
    if (this.closed || this.headersSent || !this.socket.writable) {
      if (sent.kind === 'stream') sent.body.cancel();
      return;
    }
    const headers = [...sent.headers, 'x-request-id', this.#request.id, ...nosniffHeader];
    if (!areSafe(headers)) {
      if (sent.kind === 'stream') sent.body.cancel();
      this.send(null);
    } else if (sent.kind === 'stream') {
      this.#sendStream(sent.status, headers, sent.body);
    } else {
      this.#sendWhole(sent, headers);
    }
  }

  #sendWhole({ status, body, memory = null }: WholeResponse, headers: readonly string[]): void {
    const isBodiless = this.#request.method === 'HEAD' || bodiless.has(status);
    const length = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const hasLength = body !== null || !isBodiless;
    const head = this.#head(status, hasLength ? [...headers, 'content-length', String(length)] : headers);
    if (body !== null && !isBodiless) {
      this.bodySize = length;
      this.#writeWhole(head, body, memory);
    } else {
      memory?.release();
      this.socket.write(head, 'latin1', this.#onWritten);
    }
  }

  #writeWhole(head: string, body: Uint8Array | string, memory: ReusableMemory | null): void {
    if (typeof body === 'string') {
      // A character for each byte: the text is ASCII.
      if (this.bodySize === body.length) this.socket.write(head + body, 'latin1', this.#onWritten);
      else this.#writeBoth(head, Buffer.from(body), null);
    } else if (body.length <= smallBodyBytes) {
      this.socket.write(head + toBuffer(body).toString('latin1'), 'latin1', this.#onWritten);
      memory?.release();
    } else {
      this.#writeBoth(head, body, memory);
    }
  }

  #writeBoth(head: string, body: Uint8Array, memory: ReusableMemory | null): void {
    this.socket.cork();
    this.socket.write(head, 'latin1');
    this.socket.write(body, (error) => {
      if (isWritten(error)) memory?.release();
      this.#onWritten(error);
    });
    this.socket.uncork();
  }

  #sendStream(status: number, headers: readonly string[], body: ByteSource): void {
    const isChunked = !hasName(headers, 'content-length');
    const isDropped = this.#request.method === 'HEAD' || bodiless.has(status);
    const framing = isChunked && !isDropped ? [...headers, 'transfer-encoding', 'chunked'] : headers;
    this.#source = body;
    this.socket.write(this.#head(status, framing), 'latin1');
    const write = (chunk: Uint8Array, memory: ReusableMemory | null, last: boolean): boolean => {
      if (!isDropped) this.bodySize += chunk.length;
      return this.#writeChunk(isDropped ? new Uint8Array(0) : chunk, {
        memory,
        last,
        isChunked: isChunked && !isDropped,
      });
    };
    body.pipe({
      write: (chunk, memory = null) => write(chunk, memory, false),
      end: (chunk, memory = null) => void write(chunk, memory, true),
      // Without its end, the client sees that the response is incomplete.
      fail: () => void this.destroy(),
    });
  }

  #writeChunk(
    chunk: Uint8Array,
    {
      memory,
      last,
      isChunked,
    }: { readonly memory: ReusableMemory | null; readonly last: boolean; readonly isChunked: boolean },
  ): boolean {
    const { socket } = this;
    socket.cork();
    if (chunk.length > 0) {
      if (isChunked) socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
      socket.write(chunk, (error) => {
        if (isWritten(error)) memory?.release();
      });
      if (isChunked) socket.write('\r\n', 'latin1');
    }
    if (last) {
      this.#source = null;
      socket.write(isChunked ? lastChunk : '', 'latin1', this.#onWritten);
    }
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  /** Returns the status line and all headers, with those that `node:http` adds. */
  #head(status: number, headers: readonly string[]): string {
    this.headersSent = true;
    this.statusCode = status;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    let closes = !this.shouldKeepAlive || this.#context.closesConnection();
    for (let index = 0; index < headers.length; index += 2) {
      // The gateway closes connections with this header alone.
      if (headers[index] === 'connection') closes = true;
      else head += `${headers[index]!}: ${headers[index + 1]!}\r\n`;
    }
    this.shouldKeepAlive = !closes;
    const connection = closes
      ? 'Connection: close'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${this.#context.keepAliveSeconds}`;
    return `${head}Date: ${httpDate()}\r\n${connection}\r\n\r\n`;
  }

  readonly #onWritten = (error?: Error | null): void => {
    // After an error, the socket closes.
    if (this.closed || !isWritten(error)) return;
    this.writableFinished = true;
    this.#close();
  };

  #close(): void {
    this.closed = true;
    for (const listener of this.#closeListeners) listener();
    this.#context.closed();
  }
}

function isWritten(error: Error | null | undefined): boolean {
  return error === null || error === undefined;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function areSafe(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if (!token.test(headers[index]!) || !headerValue.test(headers[index + 1]!)) return false;
  }
  return true;
}

function hasName(headers: readonly string[], name: string): boolean {
  return headers.some((text, index) => index % 2 === 0 && text === name);
}

let date = { second: 0, text: '' };

/** Returns the value of `Date`, which changes each second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() };
  return date.text;
}
