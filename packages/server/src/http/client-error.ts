/** Answers to bytes that are not a request of HTTP/1.1, or that come too slowly. */
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from './linger.ts';

/** Statuses by the codes of errors of the parser and of timeouts; 400 for others. */
const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
  HPE_PAUSED_H2_UPGRADE: 505,
};

/**
 * Answers errors of the parser. By default, Node writes the answer where the response to an earlier request belongs, and resets the
 * connection, so that clients lose it.
 * @param responsesOf returns the responses of a connection that have not ended, the oldest one first
 */
export function answerClientErrors(server: Server, responsesOf: (socket: Socket) => readonly ServerResponse[]): void {
  const failed = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // The parser reports its error again for each further piece of data.
    if (failed.has(socket)) return;
    failed.add(socket);
    const responses = responsesOf(socket);
    const lastComplete = responses.findLast(({ req }) => req.complete);
    if (!isProtocolError(error) || !socket.writable) socket.destroy();
    else if (lastComplete !== undefined) closeAfter(lastComplete, socket);
    // An error in the body of a request whose response has begun has no answer.
    else if (responses.some(({ headersSent }) => headersSent)) socket.destroy();
    else refuse(socket, error);
  });
}

function isProtocolError({ code = '' }: NodeJS.ErrnoException): boolean {
  return code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

function refuse(socket: Socket, { code = '' }: NodeJS.ErrnoException): void {
  const status = statuses[code] ?? 400;
  const title = STATUS_CODES[status]!;
  const body = JSON.stringify({ type: 'about:blank', title, status });
  socket.write(
    `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json\r\ncontent-length: ${body.length}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${body}`,
  );
  linger(socket);
}

/** Closes the connection after this response, without an answer to what follows its request. */
function closeAfter(last: ServerResponse, socket: Socket): void {
  if (!last.headersSent) last.shouldKeepAlive = false;
  // Plug-ins use up the listeners that Node allows without a warning.
  last.setMaxListeners(last.getMaxListeners() + 1).once('close', () => linger(socket));
}
