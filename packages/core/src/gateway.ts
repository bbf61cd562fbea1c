import { type FetchHandler, fetchHandler } from './adapters/fetch.ts';
import { type NodeMiddleware, nodeMiddleware } from './adapters/node.ts';
import { openConnections, requireSupportedServer } from './connections.ts';
import type { Handle } from './http/response.ts';
import { type GatewayOptions, type Options, runDefaults } from './options.ts';
import { createHandle } from './pipeline/handle.ts';
import type { Observer } from './pipeline/ports.ts';
import { planDefaults } from './plan/defaults.ts';
import type { Diagnostic } from './plan/diagnostic.ts';
import type { Endpoint } from './plan/endpoint.ts';
import { logObserver } from './plugins/log/log-observer.ts';
import { publish, type Published } from './publish.ts';
import { withRefreshEndpoint } from './refresh-endpoint.ts';
import { startError } from './start-error.ts';

export interface Gateway {
  /** What is published now. */
  readonly endpoints: readonly Endpoint[];
  /** What the authors of comments should know. */
  readonly diagnostics: readonly Diagnostic[];
  /** The gateway itself: a request to its answer, or undefined when the request is not ours. */
  readonly handle: Handle;
  /** For `node:http`, Connect and Express: `app.use(gateway.middleware)`. */
  readonly middleware: NodeMiddleware;
  /** For hosts that speak WHATWG fetch. */
  readonly fetch: FetchHandler;
  /** Reads the catalog again and swaps all endpoints at once; on failure the old ones stay. */
  refresh(): Promise<void>;
  /** Lets running calls finish and closes every connection. */
  close(): Promise<void>;
}

/**
 * Reads the database's catalog, plans its endpoints and gives a gateway that answers them.
 * @param given a connection string, or options with one
 * @throws StartError when the database cannot be reached or read, or is older than 13
 */
export async function createGateway(given: string | GatewayOptions): Promise<Gateway> {
  const options = optionsOf(given);
  const observe = observerOf(options);
  const connections = openConnections(options);
  const read = (): Promise<Published> => publish(connections, options, observe);
  let published: Published;
  try {
    await requireSupportedServer(connections.main);
    published = await read();
  } catch (error) {
    await connections.close();
    throw startError(error);
  }
  // One reading after the other: an older one must not replace a newer one.
  let reading: Promise<unknown> = Promise.resolve();
  const refresh = (): Promise<void> => {
    const next = reading.then(read).then((newer) => {
      published = newer;
    });
    reading = next.catch(() => undefined);
    return next;
  };
  const handle = withRefreshEndpoint(
    createHandle(() => published.pipeline),
    refresh,
    options,
  );
  return {
    get endpoints() {
      return published.endpoints;
    },
    get diagnostics() {
      return published.diagnostics;
    },
    handle,
    middleware: nodeMiddleware(handle),
    fetch: fetchHandler(handle),
    refresh,
    close: () => connections.close(),
  };
}

/** Undefined is the same as not given. */
function optionsOf(given: string | GatewayOptions): Options {
  const own = typeof given === 'string' ? { connectionString: given } : given;
  const entries = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...planDefaults, ...runDefaults, ...(Object.fromEntries(entries) as GatewayOptions) };
}

/** The host's own observer hears everything, its logger what the log options let through. */
function observerOf(options: Options): Observer {
  const { observer, logger } = options;
  const log = logger === null ? null : logObserver(logger, options);
  return (observation) => {
    observer?.(observation);
    log?.(observation);
  };
}
