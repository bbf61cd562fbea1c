import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { errorOf, open } from './support.ts';

/** A message of the protocol: its type, length and body. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Starts a server that answers each connection with these bytes, in pieces of this size. */
async function hostileServer(answer: Buffer, piece: number): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      for (let at = 0; at < answer.length; at += piece) socket.write(answer.subarray(at, at + piece));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `postgres://u:p@127.0.0.1:${(server.address() as { port: number }).port}/d?sslmode=disable&connect_timeout=5`;
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const sasl = Buffer.from([0, 0, 0, 10]);

const broken: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['an ErrorResponse without fields', message('E', Buffer.alloc(0))],
  ['an ErrorResponse whose fields do not end', message('E', text('SFATAL\0Mno'))],
  ['an ErrorResponse without its last zero', message('E', text('SFATAL\0Mno\0'))],
  ['a NoticeResponse without fields', message('N', Buffer.alloc(0))],
  ['a ParameterStatus of one text', message('S', text('TimeZone\0'))],
  ['a ParameterStatus without an end', message('S', text('TimeZone'))],
  ['SASL mechanisms without an end', message('R', Buffer.concat([sasl, text('SCRAM-SHA-256\0')]))],
  ['SASL mechanisms without anything', message('R', sasl)],
  ['an Authentication of no kind', message('R', Buffer.alloc(2))],
  ['a row', message('D', Buffer.from([0, 1, 0x7f, 0xff, 0xff, 0xff]))],
  ['a message that is announced too long', Buffer.from([0x53, 0x7f, 0xff, 0xff, 0xff])],
  ['a ReadyForQuery without a status', message('Z', Buffer.alloc(0))],
];

describe('an invalid handshake ends the attempt to connect and blocks nothing', () => {
  test.each(broken)('%s', async (_, bytes) => {
    for (const piece of [bytes.length, 1]) {
      const connectionString = await hostileServer(bytes, piece);
      expect(await errorOf(open(connectionString, { acquireTimeout: 10_000 }).query('select 1'))).toBe(
        'ConnectionLost',
      );
    }
  });

  test('a silent server is limited by the connect timeout', async () => {
    const connectionString = (await hostileServer(Buffer.alloc(0), 1)).replace(
      'connect_timeout=5',
      'connect_timeout=1',
    );
    expect(await errorOf(open(connectionString).query('select 1'))).toBe('ConnectionLost');
  });
});
