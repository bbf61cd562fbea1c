/** Puts the parts together in their order: database, gateway, HTTP server. */
import { createGateway, crudSource } from '@pgway/core';
import type { Gateway, GatewayOptions, Observer, Source } from '@pgway/core';
import type { Documents } from './api-docs/api-docs.ts';
import { cacheOptions } from './gateway-options.ts';
import { dataDirectoryFor } from './data-directory.ts';
import type { Configuration } from './config/schema.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { openExample } from './example/example-database.ts';
import { listen } from './http/http-server.ts';
import type { HttpServer } from './http/http-server.ts';
import type { Lifecycle } from './lifecycle.ts';
import { authenticationOptions, hasScheme, isOwnAddress } from './authentication-options.ts';

/** How long parts may take, in milliseconds. */
const bounds = {
  // A first start on a slow disk: initdb alone has been seen to take a minute.
  startEmbedded: 180_000,
  stopEmbedded: 15_000,
  startGateway: 60_000,
  stopGateway: 5000,
  startServer: 10_000,
  /** Running requests may finish within this. */
  drain: 10_000,
} as const;

/** What the embedded database needs to know of its surroundings. */
export interface Surroundings {
  readonly workingDirectory: string;
  /** Told what is going on, line by line. */
  readonly progress: (line: string) => void;
}

/** The database to publish: the configured one, or the embedded one, which is started. */
export async function startDatabase(
  lifecycle: Lifecycle,
  configuration: Configuration,
  { workingDirectory, progress }: Surroundings,
): Promise<string> {
  if (configuration.connectionString !== null) return configuration.connectionString;
  const { example } = configuration.embedded;
  const dataDirectory = await dataDirectoryFor(configuration.embedded.dataDirectory, workingDirectory);
  const server = await lifecycle.start({
    name: 'the embedded PostgreSQL',
    startWithin: bounds.startEmbedded,
    start: () =>
      startEmbeddedPostgres({
        dataDirectory,
        onProgress: progress,
        onUnexpectedExit: (error) => lifecycle.fail(error),
      }),
    stopWithin: bounds.stopEmbedded,
    stop: (embedded) => embedded.stop(),
  });
  if (!example) return server.connectionString;
  const { connectionString, state, psql } = await openExample(server.connectionString, dataDirectory);
  if (state === 'created') progress(`created the example database library in ${dataDirectory}`);
  if (state === 'changed') progress('applied the changes of api.sql to the example database library');
  progress(`to look inside: ${psql}`);
  return connectionString;
}

/** What the program decides of the gateway's options, and not the configuration. */
type OwnOptions = Pick<GatewayOptions, 'observer' | 'readDefinitions' | 'refreshOnNotify' | 'endpointCreateHandlers'>;

export function startGateway(
  lifecycle: Lifecycle,
  configuration: Configuration,
  connectionString: string,
  own: OwnOptions,
): Promise<Gateway> {
  return lifecycle.start({
    name: 'the gateway',
    startWithin: bounds.startGateway + configuration.gateway.startRetry * 1000,
    start: () => createGateway(gatewayOptions(configuration, connectionString, own)),
    stopWithin: bounds.stopGateway,
    stop: (gateway) => gateway.close(),
  });
}

/** @param documents what is served beside the endpoints */
export function startServer(
  lifecycle: Lifecycle,
  configuration: Configuration,
  gateway: Gateway,
  documents: Documents,
): Promise<HttpServer> {
  return lifecycle.start({
    name: 'the HTTP server',
    startWithin: bounds.startServer,
    start: () =>
      listen(configuration, (request, response) => {
        if (!documents(gateway.endpoints, request, response)) gateway.middleware(request, response);
      }),
    stopWithin: bounds.drain + 2000,
    stop: (server, atOnce) => {
      // They never end by themselves, and nobody would wait for them but in vain.
      gateway.endStreams();
      return server.stop(bounds.drain, atOnce);
    },
  });
}

/** Whoever reaches a public address can call what nobody is asked for. */
export function warnOfOpenDoor(configuration: Configuration, observer: Observer): void {
  if (isOwnAddress(configuration.host) || hasScheme(authenticationOptions(configuration))) return;
  const message = `the server listens on ${configuration.host} and nobody can sign in: everybody who reaches it can call every endpoint that does not say authorize`;
  observer({ kind: 'start-warning', code: 'no-sign-in', message });
}

/** The gateway's options are the section of the same name; null means that the gateway decides. */
function gatewayOptions(configuration: Configuration, connectionString: string, own: OwnOptions): GatewayOptions {
  const { gateway, crud, events } = configuration;
  const { nameConverter, ...options } = gateway;
  return {
    ...options,
    ...(nameConverter === 'none' ? { nameConverter: (name: string): string => name } : {}),
    events,
    ...cacheOptions(configuration),
    authentication: authenticationOptions(configuration),
    connectionString,
    requestIdHeader: true,
    ...own,
    ...(crud.enabled ? { sourcesCreated: (sources) => chooseSources(sources, crud) } : {}),
  };
}

/** Tables and views beside the routines, or in their place. */
function chooseSources(sources: Source[], crud: Configuration['crud']): void {
  const { enabled: _, routines, listingDefaultLimit, listingMaxLimit, ...options } = crud;
  if (!routines) sources.length = 0;
  const limits = { defaultLimit: listingDefaultLimit, maxLimit: listingMaxLimit };
  sources.push(crudSource({ ...options, listingLimits: limits }));
}
