import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import type { Random } from './random.ts';

const maxDelayMs = 20;

/** The two sockets of one connection. */
type Pair = readonly [gateway: Socket, upstream: Socket];

/**
 * A proxy between the gateway and its server that cuts connections as a network failure does: the last messages of the server are
 * not delivered, while statements of the gateway still arrive and may commit.
 */
export class FaultProxy {
  readonly connectionString: string;
  readonly #server: Server;
  readonly #pairs: Set<Pair>;

  private constructor(server: Server, pairs: Set<Pair>, connectionString: string) {
    this.#server = server;
    this.#pairs = pairs;
    this.connectionString = connectionString;
  }

  static async start(target: string): Promise<FaultProxy> {
    const url = new URL(target);
    const [host, port] = [url.hostname, Number(url.port)];
    const pairs: Set<Pair> = new Set();
    const server = createServer({ noDelay: true }, (gateway) => {
      const upstream = connect({ host, port, noDelay: true });
      const pair = [gateway, upstream] as const;
      pairs.add(pair);
      gateway.pipe(upstream);
      upstream.pipe(gateway);
      for (const socket of pair) {
        socket.on('error', () => undefined);
        socket.on('close', () => {
          pairs.delete(pair);
          gateway.destroy();
          upstream.destroy();
        });
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port);
    return new FaultProxy(server, pairs, url.href);
  }

  /** Cuts a connection; returns false when there is none. */
  lose(random: Random): boolean {
    if (this.#pairs.size === 0) return false;
    const [gateway, upstream] = random.pick([...this.#pairs]);
    upstream.unpipe(gateway);
    upstream.resume();
    setTimeout(() => gateway.destroy(), random.next() * maxDelayMs);
    return true;
  }

  close(): void {
    this.#server.close();
    for (const [gateway] of this.#pairs) gateway.destroy();
  }
}
