import type { Socket } from 'node:net';
import type { GatewayResponse } from '@pgway/core';
import { linger } from '../linger.ts';
import { FastRequest } from './fast-request.ts';
import { FastResponse } from './fast-response.ts';
import { type ParsedRequest, type ParserLimits, parseRequest } from './parse-request.ts';

/** Bytes of a connection that wait: pipelined requests, or a request whose body has not arrived. */
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
  readonly onError: (error: unknown, request: FastRequest) => void;
  readonly isStopping: () => boolean;
  /** Answers a connection whose first request has not arrived in time, and closes it. */
  readonly timeOut: (socket: Socket) => void;
  /** Gives the connection to `node:http`, whose first bytes are these. */
  readonly handOver: (socket: Socket, bytes: Buffer) => void;
  readonly closed: (connection: FastConnection) => void;
}

/** A connection whose requests are served one after the other, until the first one that is left to `node:http`. */
export class FastConnection {
  readonly #socket: Socket;
  readonly #services: FastPathServices;
  #response: FastResponse | null = null;
  /** What has arrived of the next requests. */
  #waiting: Buffer | null = null;
  /** In the time of `performance.now()`: since when no request is served. */
  #idleSince = performance.now();
  #requests = 0;

  constructor(socket: Socket, services: FastPathServices) {
    this.#socket = socket;
    this.#services = services;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    socket.on('drain', this.#onDrain).on('error', this.#onError);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Gives a request whose body is slow to `node:http`, and closes a connection that is idle for too long. */
  check(now: number, headersTimeoutMs: number, keepAliveTimeoutMs: number): void {
    if (this.#response !== null) return;
    if (this.#waiting !== null) this.#handOver(this.#waiting);
    else if (this.#requests > 0 && now - this.#idleSince >= keepAliveTimeoutMs) this.destroy();
    else if (this.#requests === 0 && now - this.#idleSince >= headersTimeoutMs) {
      this.#release();
      this.#services.timeOut(this.#socket);
    }
  }

  readonly #onData = (bytes: Buffer): void => {
    const wasWaiting = this.#waiting !== null;
    const all = this.#waiting === null ? bytes : Buffer.concat([this.#waiting, bytes]);
    this.#waiting = null;
    if (this.#response === null) {
      this.#next(all, wasWaiting);
      return;
    }
    this.#waiting = all;
    if (all.length >= maxWaitingBytes) this.#socket.pause();
  };

  /** @param isSecond whether a part of the request has waited before: a body in many pieces is left to `node:http` */
  #next(bytes: Buffer, isSecond: boolean): void {
    const parsed = parseRequest(bytes, this.#services.limits);
    if (parsed === 'incomplete' && !isSecond) this.#waiting = bytes;
    else if (typeof parsed === 'string' || !this.#services.accepts(parsed)) this.#handOver(bytes);
    else this.#serve(parsed, bytes);
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
      closesConnection: () => this.#services.isStopping() && this.#waiting === null,
      closed: () => this.#onResponseClosed(response),
    });
    this.#waiting = parsed.end < bytes.length ? bytes.subarray(parsed.end) : null;
    this.#requests += 1;
    this.#response = response;
    if (!this.#services.begin(request, response)) {
      this.destroy();
      return;
    }
    this.#services.answer(request).then(
      (answer) => response.send(answer),
      (error: unknown) => {
        this.#services.onError(error, request);
        response.send(null);
      },
    );
  }

  #onResponseClosed(response: FastResponse): void {
    const socket = this.#socket;
    this.#response = null;
    this.#idleSince = performance.now();
    if (!response.writableFinished) return;
    if (!response.shouldKeepAlive || !socket.writable) {
      this.#release();
      // What follows the last request is not read: closing at once would reset the connection.
      if (this.#waiting === null) socket.destroySoon();
      else linger(socket);
      return;
    }
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#waiting = null;
    if (socket.isPaused()) socket.resume();
    this.#next(waiting, false);
  }

  #handOver(bytes: Buffer): void {
    this.#waiting = null;
    this.#release();
    this.#services.handOver(this.#socket, bytes);
  }

  /** Leaves the socket to others. */
  #release(): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    socket.off('drain', this.#onDrain).off('error', this.#onError);
    // The next owner adds its listener before the next turn of the event loop.
    socket.on('error', this.#onError);
    this.#services.closed(this);
  }

  /** A client that ends its side does not wait for responses, as for `node:http`. */
  readonly #onEnd = (): void => {
    this.#socket.end();
  };

  readonly #onClose = (): void => {
    this.#services.closed(this);
    this.#response?.abort();
  };

  readonly #onDrain = (): void => this.#response?.resume();

  /** `close` follows. */
  readonly #onError = (): void => undefined;
}
