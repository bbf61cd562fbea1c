import { createGateway, crudSource, type GatewayOptions } from '@pgway/core';

import type { ListeningServer, ContenderSettings } from './contender.ts';
import { listenOnFreePort } from './listen.ts';

export async function startPgway(
  settings: ContenderSettings,
  options: Partial<GatewayOptions> = {},
): Promise<ListeningServer> {
  const gateway = await createGateway({
    connectionString: settings.connectionString,
    poolSize: settings.pool,
    ...options,
  });
  return listenOnFreePort(gateway.middleware, () => gateway.close());
}

/** The endpoint of a table with a hundred rows, at the path of the function that returns them. */
export async function startPgwayTable({ connectionString, pool }: ContenderSettings): Promise<ListeningServer> {
  const gateway = await createGateway({
    connectionString,
    poolSize: pool,
    routineSources: [crudSource({ includeNames: ['hundred_items'], crudTypes: 'select', commentsMode: 'ignore' })],
    urlPathBuilder: () => '/api/bench/items',
    // The requests pass `lim`, which a table does not have.
    unknownParameters: 'ignore',
  });
  return listenOnFreePort(gateway.middleware, () => gateway.close());
}

/** The same endpoints with the annotation `cached`. */
export async function startPgwayCached({ connectionString, pool }: ContenderSettings): Promise<ListeningServer> {
  const gateway = await createGateway({
    connectionString,
    poolSize: pool,
    endpointCreated: (endpoint) => ({ ...endpoint, cache: { parameters: null, expiresInMs: null } }),
  });
  return listenOnFreePort(gateway.middleware, () => gateway.close());
}
