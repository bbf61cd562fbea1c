/** The audit of acknowledged writes: writes while processes are killed and connections are cut, compared with the database at the end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { installIdempotency } from '@pgway/core';
import { type PgBouncer, startPgBouncer } from '@pgway/testing/pgbouncer';

import { createDatabase, type SoakDatabase, type SoakServer } from '../database.ts';
import { HttpClient } from '../http-client.ts';
import type { RouteBounds } from '../observe.ts';
import type { DatabaseRoute, SoakOptions } from '../options.ts';
import { Random } from '../random.ts';
import type { RouteCheck } from '../report.ts';
import { supportsPreparedStatements } from '../run-route.ts';
import { AuditClient } from './audit-client.ts';
import { AuditFaults } from './audit-faults.ts';
import { auditGuarantees, AuditLog, type StoredId } from './audit-log.ts';
import { AuditedServer } from './audited-server.ts';
import { auditSchemaSql } from './schema.sql.ts';
import { CutProxy } from './cut-proxy.ts';

const clientCount = 16;
const poolSize = 8;
/** A connection that was handed to a killed worker may never be answered. */
const requestTimeoutMs = 3000;
const repeatSeconds = 20;
/** The shares of packets that end in a cut. */
const cutShares = { clients: 0.02, database: 0.004 };

/** Runs the audit by this route, and returns a check for each guarantee. */
export async function runAudit(
  route: DatabaseRoute,
  postgres: SoakServer,
  { seed }: SoakOptions,
  bounds: RouteBounds,
): Promise<readonly RouteCheck[]> {
  const database = await createDatabase(postgres, `audit_${route}_${process.pid}`);
  const log = new AuditLog();
  const [random, folder] = [new Random(seed), await mkdtemp(join(tmpdir(), 'pgway-audit-'))];
  const resources: (() => unknown)[] = [() => database.close(), () => rm(folder, { recursive: true, force: true })];
  try {
    await createSchema(database);
    const { connectionString, options, pooler } = await openRoute(route, database);
    if (pooler !== null) resources.push(() => pooler.stop());
    const toDatabase = await CutProxy.start(Number(new URL(connectionString).port), random, cutShares.database);
    resources.push(() => toDatabase.close());
    const toServer = await CutProxy.start(null, random, cutShares.clients);
    resources.push(() => toServer.close());
    const url = new URL(connectionString);
    url.port = String(toDatabase.port);
    const start = (): Promise<AuditedServer> => AuditedServer.start(folder, url.href, options);
    const faults = new AuditFaults(await start(), { database, proxy: toServer, log, start }, random);
    resources.push(() => faults.server.killAll());
    toServer.target = faults.server.port;
    const http = new HttpClient(`http://127.0.0.1:${toServer.port}`, clientCount, requestTimeoutMs);
    resources.push(() => http.close());
    const proxies = [toServer, toDatabase];
    await runLoad({ http, log, faults, proxies, bounds, seed });
    const reason = await faults.server.end('SIGTERM');
    if (reason !== null) log.violations.add('running', reason);
    await untilIdle(database);
    log.verify(await readStoredIds(database));
    bounds.report(summary(route, log, faults.counts, proxies));
  } finally {
    for (const close of resources.toReversed()) await close();
  }
  const names = Object.keys(auditGuarantees) as (keyof typeof auditGuarantees)[];
  return names.map((name) => ({
    title: `audit > ${route} > ${auditGuarantees[name]}`,
    times: log.violations.count(name),
    examples: log.violations.examples(name),
  }));
}

async function createSchema(database: SoakDatabase): Promise<void> {
  await database.query(auditSchemaSql(database.roles.gateway));
  const statements = installIdempotency({ schema: 'pgway', roles: [database.roles.gateway] });
  await database.query(statements.join(';\n'));
}

interface AuditRoute {
  readonly connectionString: string;
  /** Options of the server. */
  readonly options: readonly string[];
  readonly pooler: PgBouncer | null;
}

async function openRoute(route: DatabaseRoute, { connectionString }: SoakDatabase): Promise<AuditRoute> {
  const options = [
    '--gateway.includeSchemas=audit',
    '--gateway.urlPathPrefix=/',
    '--gateway.batchPath=/batch',
    `--gateway.poolSize=${poolSize}`,
    '--gateway.startRetry=10',
    '--crud.enabled',
  ];
  if (route === 'direct') return { connectionString, options, pooler: null };
  const pooler = await startPgBouncer(connectionString, { mode: 'transaction', size: poolSize });
  const hasPrepared = await supportsPreparedStatements();
  return {
    connectionString: pooler.connectionString,
    options: [...options, '--gateway.pooler=transaction', `--gateway.preparedStatements=${String(hasPrepared)}`],
    pooler,
  };
}

interface AuditLoad {
  readonly http: HttpClient;
  readonly log: AuditLog;
  readonly faults: AuditFaults;
  readonly proxies: readonly CutProxy[];
  readonly bounds: RouteBounds;
  readonly seed: number;
}

/** Faults end with the writes; what is still repeated then has a server and connections that work. */
async function runLoad({ http, log, faults, proxies, bounds, seed }: AuditLoad): Promise<void> {
  const end = performance.now() + bounds.seconds * 1000;
  const stop = new AbortController();
  const setCutting = (isCutting: boolean): void => {
    for (const proxy of proxies) proxy.isCutting = isCutting;
  };
  const clients = Array.from(
    { length: clientCount },
    (_, index) => new AuditClient(`c${index}`, http, log, new Random(seed * 1000 + index)),
  );
  const limits = { writes: bounds.requests, end, repeatEnd: end + repeatSeconds * 1000, signal: bounds.signal };
  setCutting(true);
  const failing = faults.run(stop.signal);
  const timer = setInterval(() => {
    if (log.count < limits.writes && performance.now() < end && !bounds.signal.aborted) return;
    setCutting(false);
    stop.abort();
  }, 50);
  try {
    await Promise.all(clients.map((client) => client.run(limits)));
  } finally {
    clearInterval(timer);
    setCutting(false);
    stop.abort();
    await failing;
  }
}

function readStoredIds(database: SoakDatabase): Promise<readonly StoredId[]> {
  return database.query('select id, count(*)::int as count from audit.stored group by id');
}

/** A statement whose connection was cut may still run. */
async function untilIdle(database: SoakDatabase): Promise<void> {
  const end = performance.now() + repeatSeconds * 1000;
  while (performance.now() < end) {
    const rows = await database.query(
      `select from pg_stat_activity where usename = $1 and datname = current_database() and state <> 'idle'`,
      [database.roles.gateway],
    );
    if (rows.length === 0) return;
    await pause(20);
  }
  throw new Error('statements of the gateway still run after the server has stopped');
}

function summary(
  route: DatabaseRoute,
  log: AuditLog,
  { backends, workers, servers, stops }: AuditFaults['counts'],
  [toServer, toDatabase]: readonly CutProxy[],
): string {
  const { acknowledged, refused, unknown } = log.totals();
  return [
    `audit ${route}: ${log.count} writes: ${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown;`,
    `killed: ${backends} backends, ${workers} workers, ${servers} servers; ${stops} restarts;`,
    `cut: ${toServer!.cuts} connections of clients, ${toDatabase!.cuts} of the server`,
  ].join(' ');
}
