import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type GatewayRequest, Problem } from '@pgway/core';
import { peerAddress, requestId } from '@pgway/core/internal';
import type { ParsedRequest } from './parse-request.ts';

/** What the access log, metrics and traces read of a request of `node:http`. */
interface RawRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  readonly complete: boolean;
}

/** A request of the fast path, whose body has arrived. */
export class FastRequest implements GatewayRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #parsed: ParsedRequest;
  readonly #body: Uint8Array;
  readonly #onDisconnect: (listener: () => void) => void;
  #id: string | null = null;

  /** @param onDisconnect adds a listener for the end of the connection before that of the response */
  constructor(
    parsed: ParsedRequest,
    body: Uint8Array,
    { socket, onDisconnect }: { readonly socket: Socket; readonly onDisconnect: (listener: () => void) => void },
  ) {
    const { method, target, headers, rawHeaders } = parsed;
    const mark = target.indexOf('?');
    this.method = method;
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.query = mark === -1 ? '' : target.slice(mark + 1);
    const raw: RawRequest = { method, url: target, httpVersion: '1.1', headers, rawHeaders, socket, complete: true };
    this.raw = raw as unknown as IncomingMessage;
    this.#parsed = parsed;
    this.#body = body;
    this.#onDisconnect = onDisconnect;
  }

  get id(): string {
    return (this.#id ??= requestId(this.header('x-request-id')));
  }

  get remoteAddress(): string | undefined {
    return peerAddress(this.raw.socket);
  }

  get secure(): boolean {
    return (this.raw.socket as Partial<TLSSocket>).encrypted === true;
  }

  header(name: string): string | undefined {
    return this.#parsed.headers[name];
  }

  headers(): readonly (readonly [string, string])[] {
    const { rawHeaders } = this.#parsed;
    const pairs: (readonly [string, string])[] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) pairs.push([rawHeaders[index]!, rawHeaders[index + 1]!]);
    return pairs;
  }

  body(limit: number): Promise<Uint8Array> {
    if (this.#body.length <= limit) return Promise.resolve(this.#body);
    return Promise.reject(new Problem('body-too-large', { detail: `The limit is ${limit} bytes.` }));
  }

  async *chunks(): AsyncIterableIterator<Uint8Array> {
    if (this.#body.length > 0) yield this.#body;
  }

  onDisconnect(listener: () => void): void {
    this.#onDisconnect(listener);
  }
}
