import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DatabaseSocket, receiveFrom, stopReceiving } from './database-socket.ts';

const server = createServer();
let socket: DatabaseSocket;
let peer: Socket;

/** Keeps copies of what arrives, up to a number of bytes. */
function collect(count: number): { readonly pieces: Buffer[]; readonly complete: Promise<Buffer> } {
  const pieces: Buffer[] = [];
  const complete = new Promise<Buffer>((resolve) => {
    receiveFrom(socket, (bytes) => {
      pieces.push(Buffer.from(bytes));
      // As the parser, which completes messages there.
      bytes.fill(0xff);
      const all = Buffer.concat(pieces);
      if (all.length === count) resolve(all);
    });
  });
  return { pieces, complete };
}

/** Returns a connection: the socket to the database, and that of the server. */
async function open(): Promise<readonly [DatabaseSocket, Socket]> {
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const other = new DatabaseSocket();
  other.connect((server.address() as AddressInfo).port, '127.0.0.1');
  return [other, (await connected)[0]];
}

/** Waits until another connection has got bytes: those that were sent before have arrived too. */
async function passThroughAnother(): Promise<void> {
  const [other, otherPeer] = await open();
  const closed = once(other, 'close');
  receiveFrom(other, () => undefined);
  otherPeer.end('later');
  await closed;
}

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  [socket, peer] = await open();
});
afterEach(async () => {
  socket.destroy();
  peer.destroy();
  server.close();
  await once(server, 'close');
});

describe('a socket to the database', () => {
  test('emits data until it has a receiver, which gets the rest', async () => {
    const first = once(socket, 'data');
    peer.write('first');
    expect(String((await first)[0])).toBe('first');
    const { complete } = collect(6);
    peer.write('second');
    expect(String(await complete)).toBe('second');
  });

  test('passes what has arrived before the receiver first', async () => {
    // Without a listener, the bytes wait in the socket.
    peer.write('first ');
    while (socket.readableLength < 6) await once(socket, 'readable');
    const { complete } = collect(12);
    peer.write('second');
    expect(String(await complete)).toBe('first second');
  });

  test('emits data again when it has no receiver any more', async () => {
    const received: string[] = [];
    const receiver = (bytes: Buffer): unknown => received.push(String(bytes));
    receiveFrom(socket, receiver);
    stopReceiving(socket, receiver);
    const first = once(socket, 'data');
    peer.write('first');
    expect([String((await first)[0]), received]).toEqual(['first', []]);
  });

  test('receives many bytes in their order, from several sockets whose reads share the memory', async () => {
    const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, index) => (index * 7919) >> 8));
    const [other, otherPeer] = await open();
    const { complete } = collect(bytes.length);
    const others: Buffer[] = [];
    receiveFrom(other, (piece) => others.push(Buffer.from(piece)));
    peer.write(bytes);
    for (let at = 0; at < bytes.length; at += 1000) otherPeer.write(bytes.subarray(at, at + 1000));
    otherPeer.end();
    await once(other, 'close');
    expect((await complete).equals(bytes)).toBe(true);
    expect(Buffer.concat(others).equals(bytes)).toBe(true);
  });

  test('reads nothing while it is paused', async () => {
    const first = collect(4);
    peer.write('1234');
    await first.complete;
    socket.pause();
    const second = collect(4);
    peer.write('5678');
    await passThroughAnother();
    expect(second.pieces).toEqual([]);
    socket.resume();
    expect(String(await second.complete)).toBe('5678');
  });

  test('ends and closes as any other', async () => {
    const { complete } = collect(3);
    const [ended, closed] = [once(socket, 'end'), once(socket, 'close')];
    peer.end('end');
    expect(String(await complete)).toBe('end');
    await ended;
    await closed;
  });
});
