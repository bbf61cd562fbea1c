import pg from 'pg';
import type { Socket } from 'node:net';
import { type PgClient, toPgClient, guardHandshake, detachSocket } from './pg-client.ts';
import { configureSession } from './configure-session.ts';
import type { ConnectionSettings } from './connection-string.ts';
import { type ConnectionMode, dedicatedConnection } from './connection-mode.ts';
import {
  type ConnectionConfiguration,
  ConnectionLost,
  DatabaseError,
  type DataSource,
  ConnectionSetupError,
} from './port.ts';
import { type ConnectionAttempt, openFirstSuitable } from './target-session-attributes.ts';
import { Session, type SessionEvents } from './session.ts';
import type { Settings } from './settings.ts';

const defaultConnectTimeout = 15_000;
const noTls = /^The server does not support SSL/;

export type OpenSession = (events: Omit<SessionEvents, 'cancel'>) => Promise<Session>;

export interface SessionOpenerOptions {
  readonly mode: ConnectionMode;
  /** Right before every attempt to open a connection. */
  readonly beforeOpen: ((configuration: ConnectionConfiguration) => void | Promise<void>) | null;
  /** The default `statement_timeout` holds where the server has none. */
  readonly setsDefaultTimeout: boolean;
}

/**
 * Opens connections with `pg` (TLS, SCRAM, start-up: its well-kept part) and hands their sockets to sessions of ours.
 * @param settings what every session begins with
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
  const timeout = connection.connectTimeout ?? defaultConnectTimeout;
  return (events) =>
    openFirstSuitable(connection, async (attempt) => {
      const client = toPgClient(await connect(connection, attempt, beforeOpen));
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
    });
}

/**
 * Takes connections from a pool of the host's and gives them back to be closed: nothing of ours is left to whoever would
 * get them next.
 */
export function createDataSourceOpener(
  source: DataSource,
  settings: Settings,
  { mode: manner, setsDefaultTimeout: boundsTime }: Omit<SessionOpenerOptions, 'beforeOpen'>,
): OpenSession {
  return async (events) => {
    const { lent, client } = await lend(source);
    const session = new Session(
      detachSocket(client),
      {
        ...events,
        cancel: () => sendCancelRequest(client, defaultConnectTimeout),
        closed: (lost) => {
          lent.release(true);
          events.closed(lost);
        },
      },
      manner,
    );
    await configureSession(session, {
      settings,
      setsDefaultTimeout: boundsTime,
      timeout: defaultConnectTimeout,
      target: 'any',
      name: 'the data source',
    });
    return session;
  };
}

interface Lent {
  readonly lent: Awaited<ReturnType<DataSource['connect']>>;
  readonly client: PgClient;
}

async function lend(source: DataSource): Promise<Lent> {
  const refused = (error: unknown): never => {
    throw connectError(error, 'no connection from the data source');
  };
  const lent = await source.connect().catch(refused);
  try {
    const client = toPgClient(lent);
    // Without a listener `pg` throws what it hears of the socket.
    client.on('error', () => undefined);
    // What the host's own handlers ask of a new connection comes first.
    await lent.query('').catch(refused);
    return { lent, client };
  } catch (error) {
    lent.release(true);
    throw error;
  }
}

type BeforeOpen = SessionOpenerOptions['beforeOpen'];

async function connect(
  connection: ConnectionSettings,
  attempt: ConnectionAttempt,
  beforeOpen: BeforeOpen,
): Promise<pg.Client> {
  const { ssl } = connection;
  const configuration = configurationOf(connection, attempt);
  await beforehand(configuration, beforeOpen);
  if (ssl !== 'prefer') return open(configuration);
  try {
    return await open(configuration);
  } catch (error) {
    if (!(error instanceof ConnectionSetupError && noTls.test(saidBy(error.cause)))) throw error;
    return open({ ...configuration, ssl: false });
  }
}

function configurationOf(connection: ConnectionSettings, { address }: ConnectionAttempt): ConnectionConfiguration {
  const { ssl } = connection;
  return {
    host: address.host,
    port: address.port,
    database: connection.database,
    user: connection.user,
    password: connection.password,
    application_name: connection.applicationName ?? 'pgway',
    options: connection.options,
    connectionTimeoutMillis: connection.connectTimeout ?? defaultConnectTimeout,
    ssl: ssl === 'disable' ? false : ssl === 'prefer' ? { rejectUnauthorized: false } : ssl,
  };
}

/** A callback that never ends must not hold what waits for a connection. */
async function beforehand(configuration: ConnectionConfiguration, beforeOpen: BeforeOpen): Promise<void> {
  if (beforeOpen === null) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const most = configuration.connectionTimeoutMillis || defaultConnectTimeout;
    timer = setTimeout(() => reject(new Error(`it did not end within ${most} ms`)), most);
  });
  try {
    await Promise.race([beforeOpen(configuration), late]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConnectionSetupError(`beforeConnectionOpen failed: ${reason}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function open(configuration: ConnectionConfiguration): Promise<pg.Client> {
  const client = new pg.Client({ ...configuration, keepAlive: true });
  // Once the socket is ours, errors reach us through it; `pg` would throw what it hears without a listener.
  client.on('error', () => undefined);
  guardHandshake(client as unknown as PgClient);
  try {
    await client.connect();
  } catch (error) {
    // After some failures `pg` leaves the socket open.
    detachSocket(client as unknown as PgClient).destroy();
    throw connectError(error, `no connection to ${client.host}:${client.port}`);
  }
  return client;
}

/** What `pg` says of a server that is there, in words that tell what to do. */
const unfitting: readonly (readonly [said: RegExp, meaning: string])[] = [
  [noTls, 'the server does not talk TLS, which sslmode of the connection string asks for'],
  [
    /client password must be/,
    'the server asks for a password, and neither the connection string nor PGPASSWORD has one',
  ],
  [
    /^Unknown authenticationOk message type|^SASL: Only mechanism/,
    'the server asks for a way to sign in that is not known here: let its pg_hba.conf take scram-sha-256',
  ],
];

const untrusted = /CERT|^UNABLE_TO_/;

function saidBy(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function unfit(error: unknown): string | null {
  if (error instanceof Error && untrusted.test(String((error as NodeJS.ErrnoException).code))) {
    return `the certificate of the server is not to be trusted (${error.message}): sslrootcert of the connection string names the one that is`;
  }
  return unfitting.find(([said]) => said.test(saidBy(error)))?.[1] ?? null;
}

/** An error of the server keeps its SQLSTATE; everything else is a connection that could not be made. */
function connectError(error: unknown, what: string): Error {
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    return new DatabaseError({ severity: 'FATAL', code: error.code, message: error.message }, 0, 'parse');
  }
  const misfit = unfit(error);
  if (misfit !== null) return new ConnectionSetupError(`${what}: ${misfit}`, { cause: error });
  const reasons = error instanceof AggregateError ? error.errors : [error];
  return new ConnectionLost(`${what}: ${reasons.map(saidBy).join('; ')}`, { cause: error });
}

/** A cancel request travels on a connection of its own, with TLS when the session has it. */
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
    // The server closes the connection once it has passed the signal on.
    connection.on('end', resolve);
    if (client.host.startsWith('/')) connection.connect(`${client.host}/.s.PGSQL.${client.port}`);
    else connection.connect(client.port, client.host);
  });
}
