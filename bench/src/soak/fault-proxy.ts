import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import type { Random } from './random.ts';

const longestSilenceMs = 20;

/** The two sockets of one connection. */
type Pair = readonly [gateway: Socket, upstream: Socket];

/**
 * Stands between the gateway and its server and loses connections as a network does: the server's last answers are not
 * delivered, while what the gateway sends still arrives and may commit.
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

  /** Loses one connection; false when there is none. */
  lose(random: Random): boolean {
    if (this.#pairs.size === 0) return false;
    const [gateway, upstream] = random.pick([...this.#pairs]);
    upstream.unpipe(gateway);
    upstream.resume();
    setTimeout(() => gateway.destroy(), random.next() * longestSilenceMs);
    return true;
  }

  close(): void {
    this.#server.close();
    for (const [gateway] of this.#pairs) gateway.destroy();
  }
}
