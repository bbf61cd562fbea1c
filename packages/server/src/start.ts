/** Starts the components in order: database, gateway, HTTP server. */
import { setTimeout } from 'node:timers/promises';
import { createGateway, type Gateway, type Observer } from '@pgway/core';
import type { RealtimeStatistics } from '@pgway/realtime';
import { isDocsPath } from './pages/api-docs.ts';
import { authenticationOptions, hasScheme } from './authentication-options.ts';
import { hasCors } from './config/schema/http.ts';
import type { Configuration } from './config/schema.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/embedded-postgres.ts';
import { openAppDatabase } from './embedded/app-database.ts';
import { openExampleDatabase, runningExampleDatabase } from './example/example-database.ts';
import { hasExample } from './example/example-page.ts';
import { writePsqlCommand } from './embedded/psql-command.ts';
import { type CommandOptions, gatewayOptions } from './gateway-options.ts';
import type { WorkerCounts } from './health/checks.ts';
import { createHealthHandler } from './health/health-handler.ts';
import { isLoopbackHost } from './address.ts';
import { openApp } from './http/deferred-app.ts';
import type { FastPathCounts } from './http/fast-path/counts.ts';
import { hasFastPath } from './http/fast-path/fast-path.ts';
import type { Handler, PathHandler } from './http/http-server.ts';
import type { Listen } from './http/listener.ts';
import { isMcpPath } from './mcp/mcp-handler.ts';
import { openRealtime } from './realtime.ts';
import type { RequestErrorListener } from './http/static-files.ts';
import type { DocumentHandler, DocumentLookup, PathDocumentHandler } from './http/send-document.ts';
import { createOriginWatch } from './http/origin-watch.ts';
import { listenWithTls, type ServersWithRedirect } from './tls/listen-with-tls.ts';
import type { CertificateStore } from './tls/certificate-store.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LogOutputs } from './log/log-outputs.ts';
import type { RequestLog } from './log/request-log.ts';

/** Timeouts in milliseconds. */
export const timeouts = {
  // On a slow disk, initdb alone takes a minute.
  startEmbedded: 180_000,
  stopEmbedded: 15_000,
  startGateway: 60_000,
  stopGateway: 5000,
  stopLog: 5000,
  startServer: 10_000,
  drain: 10_000,
} as const;

export interface DatabaseContext {
  readonly workingDirectory: string;
  /** Receives progress messages, one line each. */
  readonly progress: (line: string) => void;
  /** Whether to use the embedded PostgreSQL that a server runs in this folder. Absent: that is an error. */
  readonly joins?: boolean;
}

/** Returns the configured connection string, or that of the embedded PostgreSQL, which is started unless it runs. */
export async function startDatabase(
  lifecycle: Lifecycle,
  configuration: Configuration,
  { workingDirectory, progress, joins = false }: DatabaseContext,
): Promise<string> {
  if (configuration.connectionString !== null) return configuration.connectionString;
  const server = await lifecycle.start({
    name: 'the embedded PostgreSQL',
    startTimeoutMs: timeouts.startEmbedded,
    start: () =>
      startEmbeddedPostgres({
        dataDirectory: configuration.embedded.dataDirectory,
        workingDirectory,
        joins,
        onProgress: progress,
        onUnexpectedExit: (error) => lifecycle.fail(error),
      }),
    stopTimeoutMs: timeouts.stopEmbedded,
    stop: (embedded) => embedded.stop(),
  });
  const connectionString = hasExample(configuration)
    ? await exampleConnection(server, progress)
    : await openAppDatabase(server.connectionString);
  // Other commands stop the server when they end.
  if (!joins) {
    progress(
      `connect with: ${await writePsqlCommand(connectionString, server.connectionString, server.dataDirectory)}`,
    );
  }
  return connectionString;
}

async function exampleConnection(
  { connectionString: superuser, dataDirectory, isJoined }: EmbeddedPostgres,
  progress: DatabaseContext['progress'],
): Promise<string> {
  if (isJoined) return runningExampleDatabase(superuser);
  const { connectionString, state } = await openExampleDatabase(superuser);
  if (state === 'created') progress(`created the example database library in ${dataDirectory}`);
  if (state === 'changed') progress('applied the changes of api.sql to the example database library');
  return connectionString;
}

/** Begins to write lines and requests into the database. The last ones are written after gateway and HTTP server have stopped. */
export function openLogDatabases(lifecycle: Lifecycle, outputs: LogOutputs, connectionString: string): Promise<void> {
  return lifecycle.start({
    name: 'the log in the database',
    startTimeoutMs: timeouts.startServer,
    start: () => Promise.resolve(connectionString).then(outputs.openDatabases),
    stopTimeoutMs: timeouts.stopLog,
    stop: () => outputs.closeDatabases(),
  });
}

export function startGateway(
  lifecycle: Lifecycle,
  configuration: Configuration,
  connectionString: string,
  commandOptions: CommandOptions,
): Promise<Gateway> {
  return lifecycle.start({
    name: 'the gateway',
    startTimeoutMs: timeouts.startGateway + configuration.gateway.startRetry * 1000,
    start: async () => createGateway(await gatewayOptions(configuration, connectionString, commandOptions)),
    stopTimeoutMs: timeouts.stopGateway,
    stop: (gateway) => gateway.close(),
  });
}

/** The parts of the HTTP server beside the gateway. */
export interface HttpServices {
  /** Serve documents beside the endpoints. */
  readonly handlers: readonly DocumentHandler[];
  /** The start page and the sign-in page; null: not served. */
  readonly pages?: readonly (DocumentLookup | null)[];
  /** Null or absent: MCP is not served. */
  readonly serveMcp?: PathDocumentHandler | null;
  /** Null: HTTP without TLS. */
  readonly certificates: CertificateStore | null;
  /** Called at the beginning of each request; absent: requests are neither logged nor tracked nor counted. */
  readonly onRequest?: RequestLog['begin'] | undefined;
  /** Null or absent: there are no metrics. */
  readonly serveMetrics?: PathHandler | null;
  /** The folder that relative paths of static files begin at; absent: that of the process. */
  readonly workingDirectory?: string;
  /** As in `AppContext`. */
  readonly onError?: RequestErrorListener;
  /** Receives warnings about requests, such as of origins without CORS. */
  readonly onWarning?: (message: string) => void;
  /** Null or absent: there is one process. */
  readonly workers?: (() => WorkerCounts) | null;
  /** Absent: `node:http` reads all requests. */
  readonly fastPathCounts?: FastPathCounts;
  /** Absent: this process listens. */
  readonly listenOn?: Listen | undefined;
  /** Called when WebSockets are served. */
  readonly onRealtime?: (statistics: () => RealtimeStatistics) => void;
}

export function startHttpServer(
  lifecycle: Lifecycle,
  configuration: Configuration,
  gateway: Gateway,
  { handlers, certificates, onRequest, serveMetrics = null, workers = null, serveMcp = null, ...others }: HttpServices,
): Promise<ServersWithRedirect> {
  const { onError, listenOn, fastPathCounts, onRealtime, onWarning = () => undefined } = others;
  // Headers of CORS are added by the application.
  const isCrossOrigin = hasCors(configuration.cors);
  const documents = serveMcp === null || isCrossOrigin ? handlers : [...handlers, serveMcp];
  const shutdownDelayMs = configuration.shutdownDelay * 1000;
  return lifecycle.start({
    name: 'the HTTP server',
    startTimeoutMs: timeouts.startServer,
    start: async () => {
      const changes = await openRealtime(configuration, gateway);
      if (changes !== null) onRealtime?.(changes.statistics);
      const app = await openApp(configuration, gateway, { ...others, serveMcp: isCrossOrigin ? serveMcp : null });
      const watchOrigin = createOriginWatch(configuration, onWarning);
      const handle: Handler = (request, response) => {
        watchOrigin(request);
        const isServed = documents.some((serve) => serve(gateway.endpoints, request, response));
        if (!isServed) app.handle(request, response);
      };
      const answerHealth = createHealthHandler(configuration, gateway, lifecycle.stopSignal, workers);
      const serveHealth: PathHandler = (request, response) =>
        answerHealth(request, response) || serveMetrics?.(request, response) === true;
      const server = await listenWithTls(configuration, handle, {
        certificates,
        serveHealth,
        onRequest,
        onError,
        upgrade: changes?.upgrade,
        listenOn,
        fastPath:
          fastPathCounts !== undefined && hasFastPath(configuration) && !hasExample(configuration)
            ? {
                gateway,
                isServerPath: (path) => isServerPath(path, configuration),
                counts: fastPathCounts,
                onRequest: watchOrigin,
              }
            : null,
      });
      return {
        ...server,
        stop: async (graceMs: number, force: AbortSignal) => {
          await changes?.close();
          await server.stop(graceMs, force);
          await app.close();
        },
      };
    },
    stopTimeoutMs: shutdownDelayMs + timeouts.drain + 2000,
    stop: async (server, force) => {
      // Readiness is 503 already; a load balancer needs some time to notice it.
      if (lifecycle.failure === null) await delay(shutdownDelayMs, force);
      // Event streams do not end by themselves.
      gateway.endStreams();
      return server.stop(timeouts.drain, force);
    },
  });
}

/** Whether the server itself answers at a path, before the endpoints. */
function isServerPath(path: string, configuration: Configuration): boolean {
  const { health, metrics, realtime } = configuration;
  const areServed = [health.path, metrics.path, realtime.path].some((own) => own !== null && path.startsWith(own));
  return areServed || isDocsPath(path, configuration) || isMcpPath(path, configuration);
}

/** Waits until the time has passed or the signal is aborted. */
async function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Warns when the server listens on a public address without an authentication scheme. */
export function warnWithoutAuthentication(configuration: Configuration, observer: Observer): void {
  if (isLoopbackHost(configuration.host) || hasScheme(authenticationOptions(configuration))) return;
  const message = `the server listens on ${configuration.host} without an authentication scheme: every client that reaches it can call all endpoints without an authorize line; enable one, such as cookie.enabled, or pass --host=127.0.0.1`;
  observer({ kind: 'start-warning', code: 'no-authentication', message });
}
