/** HTTP/2 connections of the HTTPS server. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Configuration } from '../config/schema.ts';
import { maxHeadersCount } from './fixed-limits.ts';
import { lingerMs } from './linger.ts';
import type { StallDetector } from './stall-detector.ts';
import { Http2Request, Http2Response } from './http2-messages.ts';

/** Frames that violate the protocol, and streams that were refused, after which a connection is closed. */
const maxSessionInvalidFrames = 100;
const maxSessionRejectedStreams = 100;
/**
 * Streams of a connection that may be reset at once, and per second. The limits of Node itself are 1,000 and 33, and Node 20
 * leaves such a connection open.
 */
const maxResets = 800;
const resetsPerSecond = 30;

/** `:method`, `:scheme`, `:authority` and `:path`. */
const pseudoHeaders = 4;

export type ServeRequest = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void;

export interface Http2Connections {
  /** @param busy whether requests are answered 503, because there are too many connections */
  open(socket: TLSSocket, busy: boolean): void;
  /** Resets streams whose client does not read. */
  closeStalled(stalls: StallDetector): void;
  /** Closes each connection after its running requests. */
  close(): void;
  /** Closes all connections at once. */
  destroy(): void;
}

/** Returns the handler of connections that negotiated HTTP/2. */
export function createHttp2Connections(limits: Configuration['limits'], serve: ServeRequest): Http2Connections {
  const sessions = new Map<Http2Session, TLSSocket>();
  const responses = new Set<Http2Response>();
  const busySessions = new WeakSet<Http2Session>();
  // Does not listen itself.
  const server = createServer({
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response,
    maxSessionInvalidFrames,
    maxSessionRejectedStreams,
    maxHeaderListPairs: maxHeadersCount + pseudoHeaders,
    settings: { maxConcurrentStreams: limits.maxConcurrentStreams, maxHeaderListSize: limits.maxHeaderSize },
  });
  const destroy = (session: Http2Session, code: number = constants.NGHTTP2_NO_ERROR): void => {
    const socket = sessions.get(session);
    session.destroy(undefined, code);
    // Node waits until the client has read everything.
    socket?.destroy();
  };
  const handle = (request: Http2Request, response: Http2Response, expectsContinue: boolean): void => {
    const { session } = request.stream;
    responses.add(response);
    response.once('close', () => responses.delete(response));
    endBodyAfterResponse(request.stream as ServerHttp2Stream);
    if (request.hasConflictingHost) return refuse(response, 400, {});
    if (session !== undefined && busySessions.has(session)) {
      refuse(response, 503, { 'retry-after': '1' });
      return session.close();
    }
    // The classes make them compatible.
    serve(request as unknown as IncomingMessage, response as unknown as ServerResponse, expectsContinue);
  };
  server.on('request', (request, response) => handle(request as Http2Request, response as Http2Response, false));
  server.on('checkContinue', (request, response) => handle(request as Http2Request, response as Http2Response, true));
  return {
    open: (socket, busy) => {
      server.once('session', (session) => {
        sessions.set(session, socket);
        if (busy) busySessions.add(session);
        session.once('close', () => sessions.delete(session));
        closeWhenIdle(session, socket, limits);
        closeAfterRequests(session, limits.maxRequestsPerConnection ?? Infinity);
        closeAfterResets(session, () => destroy(session, constants.NGHTTP2_ENHANCE_YOUR_CALM));
      });
      server.emit('connection', socket);
    },
    closeStalled: (stalls) => {
      for (const response of responses) {
        const pendingBytes = response.writableLength;
        if (!stalls.isStalled(response, pendingBytes, response.bodySize - pendingBytes)) continue;
        const { closed, session } = response.stream;
        if (!closed) response.destroy();
        // The reset has not been sent either: the client reads nothing of the connection.
        else if (session !== undefined) destroy(session);
      }
    },
    close: () => sessions.forEach((_, session) => session.close()),
    destroy: () => [...sessions.keys()].forEach((session) => destroy(session)),
  };
}

function refuse(response: Http2Response, status: number, headers: Readonly<Record<string, string>>): void {
  response.writeHead(status, { ...headers, 'content-length': 0, 'x-content-type-options': 'nosniff' });
  response.end();
}

/** Tells the client to stop sending a body after the response (RFC 9113, section 8.1), and discards what has arrived. */
function endBodyAfterResponse(stream: ServerHttp2Stream): void {
  if (stream.endAfterHeaders) return;
  stream.once('finish', () => {
    // After the last frame of the response.
    setImmediate(() => {
      if (stream.destroyed || stream.closed || stream.readableEnded) return;
      stream.close(constants.NGHTTP2_NO_ERROR);
      stream.resume();
    });
  });
}

/** Closes a session that has had no stream for some time; frames such as PING do not count. */
function closeWhenIdle(
  session: Http2Session,
  socket: TLSSocket,
  { headersTimeout, keepAliveTimeout }: Configuration['limits'],
): void {
  let streams = 0;
  let timer: NodeJS.Timeout;
  const wait = (seconds: number): void => {
    timer = setTimeout(end, seconds * 1000);
    timer.unref();
  };
  const end = (): void => {
    session.destroy();
    timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
  };
  wait(headersTimeout);
  session.on('stream', (stream) => {
    streams += 1;
    clearTimeout(timer);
    stream.once('close', () => {
      streams -= 1;
      if (streams === 0 && !socket.destroyed) wait(keepAliveTimeout);
    });
  });
  socket.once('close', () => clearTimeout(timer));
}

/** Closes a session, after its running requests, when it has had this number of requests. */
function closeAfterRequests(session: Http2Session, max: number): void {
  let requests = 0;
  session.on('stream', () => {
    requests += 1;
    if (requests === max) session.close();
  });
}

/** Closes a session that resets many streams (rapid reset, CVE-2023-44487), or makes the server reset them. */
function closeAfterResets(session: Http2Session, close: () => void): void {
  let resets = 0;
  let countedAt = performance.now();
  session.on('stream', (stream) => {
    stream.once('close', () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
      const now = performance.now();
      resets = Math.max(0, resets - ((now - countedAt) / 1000) * resetsPerSecond) + 1;
      countedAt = now;
      if (resets > maxResets && !session.destroyed) close();
    });
  });
}
