import type { RequestListener, ServerOptions } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Listening } from './contender.ts';

/** A `node:http` server on a free port; `release` gives back what the listener holds. */
export async function listen(
  listener: RequestListener,
  release: () => Promise<void>,
  options: ServerOptions = {},
): Promise<Listening> {
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
