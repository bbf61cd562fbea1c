import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import type { Random } from '../random.ts';

/** Forwards connections, and cuts them at random bytes: the bytes of this direction before the cut are delivered. */
export class CutProxy {
  /** The connections that were cut. */
  cuts = 0;
  isCutting = false;
  /** The port of 127.0.0.1 that connections are forwarded to; null: they are closed. */
  target: number | null;
  readonly port: number;
  readonly #server: Server;
  readonly #random: Random;
  readonly #cutShare: number;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, target: number | null, random: Random, cutShare: number) {
    this.#server = server;
    this.#random = random;
    this.#cutShare = cutShare;
    this.target = target;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket: Socket) => this.#forward(socket));
  }

  /** @param cutShare the share of packets that end in a cut */
  static async start(target: number | null, random: Random, cutShare: number): Promise<CutProxy> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CutProxy(server, target, random, cutShare);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(client: Socket): void {
    if (this.target === null) {
      client.on('error', () => undefined).destroy();
      return;
    }
    const upstream = connect({ host: '127.0.0.1', port: this.target, noDelay: true });
    const pair = [client, upstream];
    for (const socket of pair) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const other of pair) other.destroy();
      });
    }
    this.#pipe(client, upstream);
    this.#pipe(upstream, client);
  }

  #pipe(source: Socket, destination: Socket): void {
    source.on('data', (chunk: Buffer) => {
      if (this.isCutting && this.#random.chance(this.#cutShare)) {
        this.cuts++;
        source.pause();
        destination.end(chunk.subarray(0, this.#random.integer(0, chunk.length - 1)), () => source.resetAndDestroy());
      } else if (!destination.write(chunk)) {
        source.pause();
      }
    });
    destination.on('drain', () => source.resume());
    source.on('end', () => destination.end());
  }
}
