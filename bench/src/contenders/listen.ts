import type { RequestListener, ServerOptions } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ListeningServer } from './contender.ts';

/** Starts a `node:http` server on a free port of 127.0.0.1. `release` runs after it has closed. */
export async function listenOnFreePort(
  listener: RequestListener,
  release: () => Promise<void>,
  options: ServerOptions = {},
): Promise<ListeningServer> {
  const server = createServer(options, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await release();
    },
  };
}
