import { pgbouncerVersion, type PgBouncer, startPgBouncer } from '@pgway/testing/pgbouncer';

import { verifyConnections, verifyIdle } from './after-load.ts';
import type { Client, LoadContext } from './client.ts';
import { ColumnSwap } from './column-swap.ts';
import { ConnectionFaults } from './connection-faults.ts';
import { createDatabase, type SoakServer } from './database.ts';
import { FaultProxy } from './fault-proxy.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { HttpClient } from './http-client.ts';
import { verifyItems } from './item-model.ts';
import { leftoverNames } from './leftovers.ts';
import { createClients, runLoad } from './load.ts';
import { MemorySamples, formatMebibytes } from './memory.ts';
import { observe, type RouteBounds, type SoakRun } from './observe.ts';
import { checkSession } from './operations/session-state.ts';
import { ItemOperations } from './operations/tables.ts';
import type { DatabaseRoute, SoakOptions } from './options.ts';
import { Violations } from './guarantees.ts';
import { Random } from './random.ts';
import { Statistics } from './statistics.ts';
import { WriteLog } from './write-log.ts';

/** A request takes at most the `commandTimeout` of 20 s, the time in queues, and the pauses of a slow client. */
const requestTimeoutMs = 40_000;

export interface SoakResult {
  readonly route: DatabaseRoute;
  readonly statistics: Statistics;
  readonly violations: Violations;
  readonly faults: ConnectionFaults;
  readonly acknowledged: number;
  readonly seconds: number;
  readonly memory: string;
  /** Causes of unexpected failures, from the gateway's process. */
  readonly errors: readonly string[];
}

/** Runs the load against a gateway that reaches its server by this route, and verifies the guarantees. */
export async function runRoute(
  route: DatabaseRoute,
  server: SoakServer,
  options: SoakOptions,
  bounds: RouteBounds,
): Promise<SoakResult> {
  const database = await createDatabase(server, `${route}_${process.pid}`);
  let pooler: PgBouncer | null = null;
  let proxy: FaultProxy | null = null;
  try {
    if (route === 'pgbouncer') {
      pooler = await startPgBouncer(database.connectionString, { mode: 'transaction', size: options.pool });
    }
    proxy = await FaultProxy.start(pooler?.connectionString ?? database.connectionString);
    const gateway = await startGatewayProcess({
      connectionString: proxy.connectionString,
      pool: options.pool,
      pooler: pooler === null ? 'session' : 'transaction',
      preparedStatements: pooler === null || (await supportsPreparedStatements()),
      anonymousRole: database.roles.anonymous,
    });
    return await runGateway({ route, gateway, database, proxy, options, bounds });
  } finally {
    proxy?.close();
    await pooler?.stop();
    await database.close();
  }
}

/** Returns whether PgBouncer supports prepared statements in transaction mode, as 1.21 and later do. */
export async function supportsPreparedStatements(): Promise<boolean> {
  const [major = 0, minor = 0] = ((await pgbouncerVersion()) ?? '').split('.').map(Number);
  return major > 1 || minor >= 21;
}

async function runGateway(run: SoakRun): Promise<SoakResult> {
  const { route, gateway, database, options } = run;
  const load: LoadContext = {
    http: new HttpClient(gateway.origin, options.connections + options.pool, requestTimeoutMs),
    violations: new Violations(),
    writes: new WriteLog(),
    statistics: new Statistics(),
    roles: database.roles,
    anonymous: { id: null, role: database.roles.anonymous, token: null },
    leftovers: leftoverNames(route),
    sessionState: '',
  };
  const { violations, statistics } = load;
  const memory = new MemorySamples();
  const faults = new ConnectionFaults(database, run.proxy, new Random(options.seed));
  const items = new ItemOperations();
  const swap = new ColumnSwap(database, load);
  let seconds = 0;
  try {
    const clients = await createClients(load, options.connections, options.seed);
    await checkSession(clients[0]!);
    const start = performance.now();
    faults.start(statistics);
    swap.start();
    await observe(run, { load, memory, faults }, (signal) =>
      runLoad(clients, items, {
        requests: run.bounds.requests,
        end: start + run.bounds.seconds * 1000,
        signal: AbortSignal.any([run.bounds.signal, signal]),
      }),
    );
    await faults.stop();
    await swap.stop();
    seconds = (performance.now() - start) / 1000;
    await verifyAfterLoad(run, clients[0]!);
    memory.verify(violations);
  } finally {
    await faults.stop();
    await swap.stop();
    load.http.close();
    const code = await gateway.close();
    if (code !== 0) violations.add('process', `the process of the gateway ended with ${String(code)}`);
  }
  for (const error of gateway.errors) {
    if (/^(diagnostic|unhandled)/.test(error)) violations.add('process', error);
  }
  verifyAnswered(statistics, violations);
  // A lost connection ends at most one stream.
  const cut = statistics.sum('cut');
  if (cut > faults.count) violations.add('whole', `${cut} streams ended early with ${faults.count} lost connections`);
  await verifyItems(database, items.models.values(), violations);
  const acknowledged = await load.writes.verify(database, violations);
  const quarters = (kind: 'rss' | 'heap'): string =>
    [1, 2, 3].map((n) => formatMebibytes(memory.quarter(kind, n))).join(', ');
  const memoryText = `RSS ${quarters('rss')}; heap ${quarters('heap')} (second, third and last quarter)`;
  const { errors } = gateway;
  return { route, statistics, violations, faults, acknowledged, seconds, memory: memoryText, errors };
}

async function verifyAfterLoad({ database, options }: SoakRun, client: Client): Promise<void> {
  await verifyIdle(client, database);
  await verifyConnections(client, database, options.pool);
}

const minCalls = 50;
/** Long calls lose their connection more often than others. */
const answeredShare = 0.8;

function verifyAnswered(statistics: Statistics, violations: Violations): void {
  for (const [operation, { calls, answered, disconnected }] of statistics.operations) {
    const expected = calls - disconnected;
    if (expected >= minCalls && answered < expected * answeredShare) {
      violations.add('answered', `${operation}: ${answered} of ${expected} calls`);
    }
  }
}
