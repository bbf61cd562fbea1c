import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { TestRealtime } from './support.ts';

export interface RawClient {
  readonly socket: WebSocket;
  readonly messages: unknown[];
  send(message: unknown): void;
  /** The code and reason of the end. */
  readonly closed: Promise<string>;
}

/** Opens a WebSocket at `/live`; rejects with the response to a refused handshake. */
export async function openRaw(
  { url }: Pick<TestRealtime, 'url'>,
  query = 'vsn=2.0.0',
  headers: Readonly<Record<string, string>> = {},
): Promise<RawClient> {
  const socket = new WebSocket(`${url}/live/websocket?${query}`, { headers });
  onTestFinished(() => socket.terminate());
  const messages: unknown[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  const closed = new Promise<string>((resolve) => {
    socket.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`));
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => resolve());
    socket.on('error', reject);
    socket.on('unexpected-response', (_, response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
    });
  });
  return { socket, messages, send: (message) => socket.send(JSON.stringify(message)), closed };
}
