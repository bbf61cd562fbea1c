import { createGateway, crudSource, type GatewayOptions } from '@pgway/core';

import type { Listening, Settings } from './contender.ts';
import { listen } from './listen.ts';

export async function startPgway(settings: Settings, options: Partial<GatewayOptions> = {}): Promise<Listening> {
  const gateway = await createGateway({
    connectionString: settings.connectionString,
    poolSize: settings.pool,
    ...options,
  });
  return listen(gateway.middleware, () => gateway.close());
}

/** The endpoint of a table with a hundred rows, at the path of the function that gives them. */
export async function startPgwayTable({ connectionString, pool }: Settings): Promise<Listening> {
  const gateway = await createGateway({
    connectionString,
    poolSize: pool,
    routineSources: [crudSource({ includeNames: ['hundred_items'], crudTypes: 'select', commentsMode: 'ignore' })],
    urlPathBuilder: () => '/api/bench/items',
    // How many rows there are is not for the client to choose.
    unknownParameters: 'ignore',
  });
  return listen(gateway.middleware, () => gateway.close());
}

/** The same endpoints as if every comment said `cached`. */
export async function startPgwayKept({ connectionString, pool }: Settings): Promise<Listening> {
  const gateway = await createGateway({
    connectionString,
    poolSize: pool,
    endpointCreated: (endpoint) => ({ ...endpoint, cache: { parameters: null, expiresInMs: null } }),
  });
  return listen(gateway.middleware, () => gateway.close());
}
