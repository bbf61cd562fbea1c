/** The entry point of a gateway process with streams of row changes. It reports its counters and memory on request. */
import { createGateway, crudSource } from '@pgway/core';

import { listenOnFreePort } from '../contenders/listen.ts';

/** The counters since the start; bytes. */
export interface GatewayReport {
  readonly rss: number;
  readonly cuts: number;
  readonly lookups: number;
  readonly dropped: number;
}

/** More rows than a tenant has. */
const allRows = 1_000_000;
let dropped = 0;

const gateway = await createGateway({
  connectionString: process.env['DATABASE_URL']!,
  logConnectionNoticeEvents: false,
  sourcesCreated: (sources) =>
    void sources.push(crudSource({ listing: true, listingLimits: { defaultLimit: allRows, maxLimit: allRows } })),
  observer: (observation) => {
    if (observation.kind === 'stream-dropped') dropped++;
    if (observation.kind === 'changes-unavailable') process.stderr.write(`${observation.reason}\n`);
    if (observation.kind === 'diagnostic' && observation.diagnostic.severity === 'error')
      process.stderr.write(`${JSON.stringify(observation.diagnostic)}\n`);
  },
  authentication: {
    // Verifying credentials is not what is measured: `x-user` has a name and a tenant.
    schemes: [
      {
        name: 'bench',
        authenticate: (request) => {
          const [name, tenant] = request.header('x-user')?.split(' ') ?? [];
          if (name === undefined || tenant === undefined) return null;
          const claims = [['name', name] as const, ['tenant', tenant] as const];
          return { scheme: 'bench', claims, session: null, sentByBrowser: false };
        },
        challenge: () => 'Bench',
        signIn: null,
        signOut: () => Promise.resolve([]),
        routes: [],
      },
    ],
    databaseRole: { claim: 'database_role', anonymous: process.env['ROLE']! },
  },
  events: { maxStreams: 20_000, maxStreamsPerUser: 20_000, maxStreamsPerAddress: 20_000 },
});
const { port } = await listenOnFreePort(gateway.middleware, () => gateway.close());

process.on('message', () => {
  const changes = gateway.statistics().changes;
  process.send!({
    rss: process.memoryUsage.rss(),
    cuts: changes?.cuts ?? 0,
    lookups: changes?.lookups ?? 0,
    dropped,
  } satisfies GatewayReport);
});
process.once('disconnect', () => process.exit());
process.send!({ port });
