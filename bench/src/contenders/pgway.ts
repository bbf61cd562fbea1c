import { createGateway } from '@pgway/core';

import type { Listening, Settings } from './contender.ts';
import { listen } from './listen.ts';

export async function startPgway(settings: Settings, shareConnections: boolean): Promise<Listening> {
  const gateway = await createGateway({
    connectionString: settings.connectionString,
    poolSize: settings.pool,
    shareConnections,
  });
  return listen(gateway.middleware, () => gateway.close());
}
