import { postgrestSource } from '@pgway/postgrest';
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

/** The endpoints of the table of notes. */
export async function startPgwayTables({ connectionString, pool }: ContenderSettings): Promise<ListeningServer> {
  const gateway = await createGateway({
    connectionString,
    poolSize: pool,
    routineSources: [crudSource({ includeNames: ['note'], commentsMode: 'ignore', listing: true })],
  });
  return listenOnFreePort(gateway.middleware, () => gateway.close());
}

/** Authors and books in the dialect of PostgREST. */
export async function startPgwayRelated({ connectionString, pool }: ContenderSettings): Promise<ListeningServer> {
  const tables = postgrestSource({
    path: '/api/bench',
    includeNames: ['author', 'book'],
    commentsMode: 'parseAll',
  });
  const gateway = await createGateway({ connectionString, poolSize: pool, routineSources: [tables] });
  return listenOnFreePort(gateway.middleware, () => gateway.close());
}

/** The endpoints of functions with the annotation `cached`. */
export async function startPgwayCached(settings: ContenderSettings): Promise<ListeningServer> {
  return startPgway(settings, {
    endpointCreated: (endpoint) => ({ ...endpoint, cache: { parameters: null, expiresInMs: null } }),
  });
}
