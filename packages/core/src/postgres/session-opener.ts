import pg from 'pg';
import type { Socket } from 'node:net';
import { type PgClient, toPgClient, guardHandshake, detachSocket } from './pg-client.ts';
import { configureSession } from './configure-session.ts';
import type { ConnectionSettings } from './connection-string.ts';
import { openSocket } from './database-socket.ts';
import { type ConnectionMode, dedicatedConnection } from './connection-mode.ts';
import {
  type ConnectionConfiguration,
  ConnectionLost,
  DatabaseError,
  type DataSource,
  ConnectionSetupError,
} from './port.ts';
import { type ConnectionAttempt, openFirstSuitable, unsuitableReason } from './target-session-attributes.ts';
import { Session, type SessionEvents } from './session.ts';
import type { Settings } from './settings.ts';
import { toError } from '../to-error.ts';

const defaultConnectTimeoutMs = 15_000;
const noTls = /^The server does not support SSL/;

export type OpenSession = (events: Omit<SessionEvents, 'cancel'>) => Promise<Session>;

export interface SessionOpenerOptions {
  readonly mode: ConnectionMode;
  /** Runs before every attempt to open a connection. */
  readonly beforeOpen: ((configuration: ConnectionConfiguration) => void | Promise<void>) | null;
  /** Applies the default `statement_timeout` where the server has none. */
  readonly setsDefaultTimeout: boolean;
}

/**
 * Creates a function that opens sessions. `pg` performs TLS, authentication and start-up, then the session takes over its socket.
 * @param settings the initial settings of every session
 */
export function createSessionOpener(
  connection: ConnectionSettings,
  settings: Settings,
  { mode: manner, beforeOpen, setsDefaultTimeout: boundsTime }: SessionOpenerOptions = {
    mode: dedicatedConnection,
    beforeOpen: null,
    setsDefaultTimeout: false,
  },
): OpenSession {
  const timeout = connection.connectTimeout ?? defaultConnectTimeoutMs;
  return (events) =>
    openFirstSuitable(connection, {
      open: async (attempt) => {
        const client = toPgClient((await connect(connection, attempt, { beforeOpen, replication: null })).client);
        const cancel = (): Promise<void> => sendCancelRequest(client, timeout);
        const session = new Session(detachSocket(client), { ...events, cancel }, manner);
        const { host, port } = client;
        await configureSession(session, {
          settings,
          setsDefaultTimeout: boundsTime,
          timeout,
          target: attempt.target,
          name: `${host}:${port}`,
        });
        return session;
      },
      discard: (session) => session.end(),
    });
}

/**
 * Creates a function that opens sessions on connections of a `pg` pool of the host. The pool closes each returned connection,
 * so that no session state reaches its next user.
 */
export function createDataSourceOpener(
  source: DataSource,
  settings: Settings,
  { mode: manner, setsDefaultTimeout: boundsTime }: Omit<SessionOpenerOptions, 'beforeOpen'>,
): OpenSession {
  return async (events) => {
    const { connection, client } = await borrowConnection(source);
    const session = new Session(
      detachSocket(client),
      {
        ...events,
        cancel: () => sendCancelRequest(client, defaultConnectTimeoutMs),
        closed: (session) => {
          connection.release(true);
          events.closed(session);
        },
      },
      manner,
    );
    await configureSession(session, {
      settings,
      setsDefaultTimeout: boundsTime,
      timeout: defaultConnectTimeoutMs,
      target: 'any',
      name: 'the data source',
    });
    return session;
  };
}

interface BorrowedConnection {
  readonly connection: Awaited<ReturnType<DataSource['connect']>>;
  readonly client: PgClient;
}

async function borrowConnection(source: DataSource): Promise<BorrowedConnection> {
  const fail = (error: unknown): never => {
    throw connectError(error, 'no connection from the data source');
  };
  const connection = await source.connect().catch(fail);
  try {
    const client = toPgClient(connection);
    // Without a listener, `pg` throws errors of the socket.
    client.on('error', () => undefined);
    // An empty query waits for the queries that the host runs on a new connection.
    await connection.query('').catch(fail);
    return { connection, client };
  } catch (error) {
    connection.release(true);
    throw error;
  }
}

/**
 * Opens a client of `pg` on the first suitable server of the connection string.
 * @throws DatabaseError of the server; ConnectionLost or ConnectionSetupError without an answer of a suitable one
 */
export function openClient(connection: ConnectionSettings): Promise<pg.Client> {
  return openSuitableClient(connection, null);
}

/**
 * Opens a client of `pg` whose server process is a walsender of the database.
 * @throws as `openClient`
 */
export async function openReplicationClient(connection: ConnectionSettings): Promise<PgClient> {
  return toPgClient(await openSuitableClient(connection, 'database'));
}

function openSuitableClient(connection: ConnectionSettings, replication: 'database' | null): Promise<pg.Client> {
  const open = async (attempt: ConnectionAttempt): Promise<pg.Client> => {
    const { client, endHandshake } = await connect(connection, attempt, { beforeOpen: null, replication });
    endHandshake();
    if (attempt.target === 'any') return client;
    const { rows } = await client.query<{ isReadOnly: boolean; isStandby: boolean }>(serverStateSql);
    const reason = unsuitableReason(attempt.target, rows[0]!.isReadOnly, rows[0]!.isStandby);
    if (reason === null) return client;
    await client.end();
    throw new ConnectionLost(`no connection to ${client.host}:${client.port}: ${reason}`);
  };
  return openFirstSuitable(connection, { open, discard: (client) => void client.end() });
}

const serverStateSql = `select pg_catalog.current_setting('transaction_read_only') operator(pg_catalog.=) 'on' as "isReadOnly",
  pg_catalog.pg_is_in_recovery() as "isStandby"`;

type BeforeOpen = SessionOpenerOptions['beforeOpen'];

interface ConnectOptions {
  readonly beforeOpen: BeforeOpen;
  /** The start-up parameter `replication`; null: none. */
  readonly replication: 'database' | null;
}

async function connect(
  connection: ConnectionSettings,
  attempt: ConnectionAttempt,
  { beforeOpen, replication }: ConnectOptions,
): Promise<OpenedClient> {
  const { ssl } = connection;
  const configuration = clientConfiguration(connection, attempt);
  await runBeforeOpen(configuration, beforeOpen);
  if (ssl !== 'prefer') return open(configuration, replication);
  try {
    return await open(configuration, replication);
  } catch (error) {
    if (!(error instanceof ConnectionSetupError && noTls.test(toError(error.cause).message))) throw error;
    return open({ ...configuration, ssl: false }, replication);
  }
}

function clientConfiguration(connection: ConnectionSettings, { address }: ConnectionAttempt): ConnectionConfiguration {
  const { ssl } = connection;
  return {
    host: address.host,
    port: address.port,
    database: connection.database,
    user: connection.user,
    password: connection.password,
    application_name: connection.applicationName ?? 'pgway',
    options: connection.options,
    connectionTimeoutMillis: connection.connectTimeout ?? defaultConnectTimeoutMs,
    ssl: ssl === 'disable' ? false : ssl === 'prefer' ? { rejectUnauthorized: false } : ssl,
  };
}

/** Runs the callback of the host with a time limit, so that it cannot block waiting calls forever. */
async function runBeforeOpen(configuration: ConnectionConfiguration, beforeOpen: BeforeOpen): Promise<void> {
  if (beforeOpen === null) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const limitMs = configuration.connectionTimeoutMillis || defaultConnectTimeoutMs;
    timer = setTimeout(() => reject(new Error(`it did not finish within ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([beforeOpen(configuration), late]);
  } catch (error) {
    const reason = toError(error).message;
    throw new ConnectionSetupError(`beforeConnectionOpen failed: ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

interface OpenedClient {
  readonly client: pg.Client;
  /** Ends the check of the messages of the handshake. */
  readonly endHandshake: () => void;
}

async function open(
  configuration: ConnectionConfiguration,
  replication: ConnectOptions['replication'],
): Promise<OpenedClient> {
  const client = new pg.Client({
    ...configuration,
    stream: () => openSocket(),
    keepAlive: true,
    ...(replication === null ? {} : { replication }),
  } as pg.ClientConfig);
  // Without a listener, `pg` throws errors of the socket. The session handles them.
  client.on('error', () => undefined);
  const endHandshake = guardHandshake(client as unknown as PgClient);
  try {
    await client.connect();
  } catch (error) {
    // `pg` leaves the socket open after some failures.
    detachSocket(client as unknown as PgClient).destroy();
    throw connectError(error, `no connection to ${client.host}:${client.port}`);
  }
  return { client, endHandshake };
}

/** Messages of `pg` for failed handshakes, and explanations that say what to do. */
const handshakeErrors: readonly (readonly [pattern: RegExp, explanation: string])[] = [
  [
    noTls,
    'the server does not support TLS, which sslmode of the connection string requires; enable TLS or use sslmode=disable',
  ],
  [/client password must be/, 'the server requests a password; set it in the connection string or in PGPASSWORD'],
  [
    /^Unknown authenticationOk message type|^SASL: Only mechanism/,
    'the server requests an unsupported authentication method; allow scram-sha-256 in its pg_hba.conf',
  ],
];

const certificateError = /CERT|^UNABLE_TO_/;

function explainHandshakeError(error: unknown): string | null {
  if (error instanceof Error && certificateError.test(String((error as NodeJS.ErrnoException).code))) {
    return `the certificate of the server is not trusted (${error.message}); set sslrootcert in the connection string to a root certificate`;
  }
  return handshakeErrors.find(([pattern]) => pattern.test(toError(error).message))?.[1] ?? null;
}

/** Converts an error of `pg`: one of the server keeps its SQLSTATE, others become ConnectionLost or ConnectionSetupError. */
function connectError(error: unknown, prefix: string): Error {
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    return new DatabaseError({ severity: 'FATAL', code: error.code, message: error.message }, 0, 'parse', null);
  }
  const explanation = explainHandshakeError(error);
  if (explanation !== null) return new ConnectionSetupError(`${prefix}: ${explanation}`, { cause: error });
  const reasons = error instanceof AggregateError ? error.errors : [error];
  return new ConnectionLost(`${prefix}: ${reasons.map((reason) => toError(reason).message).join('; ')}`, {
    cause: error,
  });
}

/** Sends a CancelRequest on a separate connection, with TLS if the session has it. */
export function sendCancelRequest(client: PgClient, timeout: number): Promise<void> {
  const { processID, secretKey, ssl } = client;
  return new Promise((resolve, reject) => {
    const connection = new pg.Connection({ ssl } as pg.ConnectionConfig) as pg.Connection & {
      requestSsl(): void;
      cancel(processId: number, secretKey: number): void;
      connect(port: number | string, host?: string): void;
      readonly stream: Socket;
    };
    connection.stream.setTimeout(timeout, () => connection.stream.destroy(new Error('timeout')));
    connection.on('connect', () => (ssl ? connection.requestSsl() : connection.cancel(processID, secretKey)));
    connection.on('sslconnect', () => connection.cancel(processID, secretKey));
    connection.on('error', reject);
    // The server closes the connection after it has signalled the backend.
    connection.on('end', resolve);
    if (client.host.startsWith('/')) connection.connect(`${client.host}/.s.PGSQL.${client.port}`);
    else connection.connect(client.port, client.host);
  });
}
