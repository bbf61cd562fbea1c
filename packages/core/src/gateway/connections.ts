import { createClientRunner } from '../postgres/client-runner.ts';
import {
  baseSettings,
  connectDataSource,
  connectDatabase,
  type DatabaseOptions,
} from '../postgres/connect-database.ts';
import { type ConnectionSettings, parseConnectionString } from '../postgres/connection-string.ts';
import { defaultStatementTimeoutMs } from '../postgres/settings.ts';
import { type Call, ConnectionLost, type Database, type ChannelEvent, type Runner } from '../postgres/port.ts';
import type { ResolvedOptions } from './options/options.ts';
import type { ConnectionProvider, Observer } from '../ports/ports.ts';
import type { HostRunner } from '../request/procedure-output-conversion.ts';
import { StartError, toStartError } from './start-error.ts';

/** The gateway's own database, and those that a comment may name; each has a pool of its own. */
export interface Connections {
  readonly main: Database;
  readonly named: ReadonlyMap<string, Database>;
  /** Connections of the host's, one for a request; null: the host gives none. */
  readonly provide: ((...asked: Parameters<ConnectionProvider>) => Promise<HostRunner | null>) | null;
  /** What a call on a connection of the host's has to bring along. */
  readonly providedSettings: readonly (readonly [name: string, value: string])[];
  /**
   * Listens to a channel of the main database, or of a named one.
   * @throws StartError behind a pooler, without a way past it
   */
  readonly listen: (channel: string, hear: (heard: ChannelEvent) => void, connection?: string | null) => () => void;
  /** The main database on a connection of its own, for what must not wait behind requests. */
  readonly notifyDatabase: () => Database;
  close(): Promise<void>;
}

/** Milliseconds; on connections of the host's, whose `statement_timeout` is not asked. */
export function commandTimeout({ commandTimeout: wanted }: ResolvedOptions): number {
  return wanted === null ? defaultStatementTimeoutMs : wanted * 1_000;
}

/** @throws StartError for a connection string that cannot be understood; nothing is connected yet */
export function openConnections(options: ResolvedOptions, observe: Observer): Connections {
  const main = openMain(options, observe);
  const named = new Map(
    Object.entries(options.connectionStrings).map(([name, text]) => {
      return [name, open({ text, name, options, observe })] as const;
    }),
  );
  const listening = openListening(options, observe);
  const all = [main, ...named.values(), ...(listening === null ? [] : [listening])];
  const notifying = once(() => {
    const database = openMain({ ...options, poolSize: 1 }, observe);
    all.push(database);
    return database;
  });
  const listenable = (connection: string | null): Database => {
    if (connection === null && listening !== null) return listening;
    if (options.pooler !== 'session') throw needsWayPast(['listen']);
    return connection === null ? main : named.get(connection)!;
  };
  const { connectionProvider } = options;
  return {
    main,
    named,
    provide: connectionProvider === null ? null : providing(connectionProvider, options),
    providedSettings:
      connectionProvider === null ? [] : Object.entries(baseSettings(databaseOptions(options, observe))),
    listen: (channel, hear, connection = null) => listenable(connection).listen(channel, hear),
    notifyDatabase: notifying,
    close: async () => {
      await Promise.all(all.map((database) => database.close()));
    },
  };
}

function once<Product>(make: () => Product): () => Product {
  let made: Product | undefined;
  return () => (made ??= make());
}

function openMain(options: ResolvedOptions, observe: Observer): Database {
  if (options.dataSource !== null) return connectDataSource(options.dataSource, databaseOptions(options, observe));
  if (typeof options.connectionString === 'string') return open({ text: options.connectionString, options, observe });
  throw new StartError('no connection string: give one such as postgres://user:password@localhost:5432/database');
}

/** LISTEN needs a session that lasts, which a pooler that shares sessions cannot give. */
function openListening(options: ResolvedOptions, observe: Observer): Database | null {
  const { listenConnectionString, refreshOnNotify, cacheInvalidateChannel, pooler, authentication, events } = options;
  if (listenConnectionString !== null) {
    return open({ text: listenConnectionString, options: { ...options, pooler: 'session' }, observe });
  }
  if (pooler === 'session') return null;
  const wants = [
    ...(refreshOnNotify === null ? [] : ['refreshOnNotify']),
    ...(cacheInvalidateChannel === null ? [] : ['cacheInvalidateChannel']),
    ...((authentication.sessions?.channel ?? null) === null ? [] : ['the channel of sessions']),
    ...(events.broadcast === 'postgres' ? ['events.broadcast'] : []),
  ];
  if (wants.length === 0) return null;
  throw needsWayPast(wants);
}

function needsWayPast(wants: readonly string[]): StartError {
  return new StartError(
    `${wants.join(' and ')} behind a pooler needs listenConnectionString, which leads past the pooler`,
  );
}

interface Opening {
  readonly text: string;
  readonly name?: string;
  readonly options: ResolvedOptions;
  readonly observe: Observer;
}

function open({ text, name, options, observe }: Opening): Database {
  try {
    return connectDatabase(settingsOf(text, name), databaseOptions(options, observe, name));
  } catch (error) {
    const { message } = toStartError(error);
    throw new StartError(name === undefined ? message : `connection "${name}": ${message}`, { cause: error });
  }
}

/** A named connection carries its own application name, so that the server's views tell them apart. */
function settingsOf(text: string, name: string | undefined): ConnectionSettings {
  const settings = parseConnectionString(text);
  return name === undefined ? settings : { ...settings, applicationName: settings.applicationName ?? name };
}

function databaseOptions(options: ResolvedOptions, observe: Observer, name: string | null = null): DatabaseOptions {
  const { beforeConnectionOpen } = options;
  return {
    ...options,
    acquireTimeout: options.acquireTimeout * 1_000,
    statementTimeout: options.commandTimeout === null ? null : options.commandTimeout * 1_000,
    ...(beforeConnectionOpen === null
      ? {}
      : { beforeOpen: (configuration) => beforeConnectionOpen(configuration, name) }),
    onNotice: () => undefined,
    onConnectionError: (error) => observe({ kind: 'connection-failed', connection: name, error }),
  };
}

function providing(
  provider: ConnectionProvider,
  { acquireTimeout }: ResolvedOptions,
): NonNullable<Connections['provide']> {
  return async (request, endpoint) => {
    const provided = await provider(request, endpoint);
    if (provided === null || provided === undefined) return null;
    const release = (error?: Error): void => provided.release?.(error instanceof ConnectionLost ? error : undefined);
    try {
      return releasing(createClientRunner(provided.client, acquireTimeout * 1_000), release);
    } catch (error) {
      release(error as Error);
      throw error;
    }
  };
}

/** What the release itself throws fails the request, like every callback of the host's. */
function releasing(runner: Runner, release: (error?: Error) => void): HostRunner {
  const failing = (call: Call): Call => ({
    ...call,
    failed: (error) => call.failed(failureOf(() => release(error)) ?? error),
  });
  return {
    withoutRelease: { run: (call) => runner.run(failing(call)) },
    run: (call) =>
      runner.run({
        ...failing(call),
        done: (elapsed, left) => {
          const failure = failureOf(release);
          if (failure === null) call.done(elapsed, left);
          else call.failed(failure);
        },
      }),
  };
}

function failureOf(act: () => void): Error | null {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
