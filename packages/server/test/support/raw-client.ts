import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A connection on which a test writes bytes. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything that the server has sent. */
  readonly text: () => string;
  /** Waits until the connection is closed, and returns everything that the server has sent; an error code follows a reset. */
  readonly closed: Promise<string>;
}

export interface RawClientOptions {
  readonly port: number;
  readonly host?: string;
  /** The local address. */
  readonly from?: string;
  /** The certificate of the server: the client uses TLS. */
  readonly ca?: string;
}

/** Connects; the connection is closed at the end of the test. */
export function openRaw({ port, host = '127.0.0.1', from, ca }: RawClientOptions): RawClient {
  const target = { port, host, ...(from === undefined ? {} : { localAddress: from }) };
  const socket = ca === undefined ? connect(target) : connectTls({ ...target, ca, servername: 'localhost' });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('latin1').on('data', (data: string) => (text += data));
  socket.on('error', (error: NodeJS.ErrnoException) => (text += ` ${error.code}`));
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  return { socket, text: () => text, closed };
}

/** Sends the bytes of a string, and returns everything that the server sends until it closes the connection. */
export function exchange(bytes: string, options: RawClientOptions): Promise<string> {
  const { socket, closed } = openRaw(options);
  socket.write(bytes, 'latin1');
  return closed;
}

/** Leaves out the headers of Node that vary. */
export function withoutVaryingHeaders(text: string): string {
  return text.replaceAll(/^(?:Date|Keep-Alive): .*\r\n/gm, '');
}
