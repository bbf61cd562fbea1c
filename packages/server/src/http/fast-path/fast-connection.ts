import type { Socket } from 'node:net';
import type { GatewayResponse } from '@pgway/core';
import { linger } from '../linger.ts';
import type { FailedRequest } from '../static-files.ts';
import { FastRequest } from './fast-request.ts';
import { FastResponse } from './fast-response.ts';
import { type ParsedRequest, type ParserLimits, parseRequest } from './parse-request.ts';
import { WaitingBytes } from './waiting-bytes.ts';

/** Bytes of a body. A connection is not read while as many bytes wait behind the request that is served. */
export const maxWaitingBytes = 64 * 1024;

export interface FastPathServices {
  readonly limits: ParserLimits;
  /** Seconds, in `Keep-Alive`. */
  readonly keepAliveSeconds: number;
  /** Whether the gateway alone answers the request, and the request is allowed. */
  readonly accepts: (request: ParsedRequest) => boolean;
  /** Begins a request. False: it is not served, as its connection ends. */
  readonly begin: (request: FastRequest, response: FastResponse) => boolean;
  /** Answers a request. */
  readonly answer: (request: FastRequest) => Promise<GatewayResponse>;
  readonly onError: (error: unknown, request: FailedRequest) => void;
  readonly isStopping: () => boolean;
  /** Answers a connection whose first request has not arrived in time, and closes it. */
  readonly timeOut: (socket: Socket) => void;
  /** Gives the connection to `node:http`, whose first bytes are these. */
  readonly handOver: (socket: Socket, bytes: Buffer) => void;
  readonly closed: (socket: Socket) => void;
}

/** A connection whose requests are served one after the other, until the first one that is left to `node:http`. */
export class FastConnection {
  readonly #socket: Socket;
  readonly #services: FastPathServices;
  #response: FastResponse | null = null;
  /** Pipelined requests, or a request whose body has not arrived. */
  readonly #waiting = new WaitingBytes();
  /** In the time of `performance.now()`: since when no request is served. */
  #idleSince = performance.now();
  #requests = 0;

  constructor(socket: Socket, services: FastPathServices) {
    this.#socket = socket;
    this.#services = services;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    socket.on('drain', this.#onDrain).on('error', this.#onError);
  }

  /** Whether the body of a request has arrived in part. */
  get isReceiving(): boolean {
    return this.#response === null && this.#waiting.length > 0;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives a request whose body is slow to `node:http`, and closes a connection that is idle for too long. */
  check(now: number, headersTimeoutMs: number, keepAliveTimeoutMs: number): void {
    if (this.#response !== null) return;
    if (this.isReceiving) this.#handOver();
    else if (this.#requests > 0 && now - this.#idleSince >= keepAliveTimeoutMs) this.destroy();
    else if (this.#requests === 0 && now - this.#idleSince >= headersTimeoutMs) {
      this.#release();
      this.#services.timeOut(this.#socket);
    }
  }

  readonly #onData = (bytes: Buffer): void => {
    const isSecond = this.#waiting.length > 0;
    this.#waiting.add(bytes);
    if (this.#response === null) this.#next(isSecond);
    else if (this.#waiting.length >= maxWaitingBytes) this.#socket.pause();
  };

  /** @param isSecond whether a part of the request has waited before: a body in many pieces is left to `node:http` */
  #next(isSecond: boolean): void {
    const bytes = this.#waiting.all();
    const parsed = parseRequest(bytes, this.#services.limits);
    try {
      if (parsed === 'incomplete' && !isSecond) this.#read();
      else if (typeof parsed === 'string' || !this.#services.accepts(parsed)) this.#handOver();
      else this.#serve(parsed, bytes);
    } catch (error) {
      // Uncaught in a listener of the socket, it would end the process.
      this.#services.onError(error, typeof parsed === 'string' ? {} : { method: parsed.method, url: parsed.target });
      this.destroy();
    }
  }

  #serve(parsed: ParsedRequest, bytes: Buffer): void {
    const socket = this.#socket;
    const request = new FastRequest(parsed, bytes.subarray(parsed.bodyStart, parsed.end), {
      socket,
      onDisconnect: (listener) => response.onDisconnect(listener),
    });
    const response: FastResponse = new FastResponse(request, parsed.keepsAlive, {
      socket,
      keepAliveSeconds: this.#services.keepAliveSeconds,
      closesConnection: () => this.#services.isStopping() && this.#waiting.length === 0,
      closed: () => this.#onResponseClosed(response),
    });
    this.#waiting.skip(parsed.end);
    if (this.#waiting.length < maxWaitingBytes) this.#read();
    this.#requests += 1;
    this.#response = response;
    if (!this.#services.begin(request, response)) {
      this.destroy();
      return;
    }
    this.#services
      .answer(request)
      .then((answer) => response.send(answer))
      .catch((error: unknown) => {
        this.#services.onError(error, request.raw);
        response.fail();
      });
  }

  #onResponseClosed(response: FastResponse): void {
    const socket = this.#socket;
    this.#response = null;
    this.#idleSince = performance.now();
    if (!response.writableFinished) return;
    if (!response.shouldKeepAlive || !socket.writable) {
      this.#release();
      // What follows the last request is not read: closing at once would reset the connection.
      if (this.#waiting.length === 0) socket.destroySoon();
      else linger(socket);
      return;
    }
    if (this.#waiting.length > 0) this.#next(false);
  }

  #handOver(): void {
    const bytes = this.#waiting.all();
    this.#waiting.clear();
    this.#release();
    this.#services.handOver(this.#socket, bytes);
  }

  /** Reads further bytes. */
  #read(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** Leaves the socket to others. */
  #release(): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    socket.off('drain', this.#onDrain).off('error', this.#onError);
    // The next owner adds its listener before the next turn of the event loop.
    socket.on('error', this.#onError);
    this.#read();
    this.#services.closed(this.#socket);
  }

  /** A client that ends its side does not wait for responses, as for `node:http`. */
  readonly #onEnd = (): void => {
    this.#socket.end();
  };

  readonly #onClose = (): void => {
    this.#services.closed(this.#socket);
    this.#response?.abort();
  };

  readonly #onDrain = (): void => this.#response?.resume();

  /** `close` follows. */
  readonly #onError = (): void => undefined;
}
