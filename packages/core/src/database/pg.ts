import type { Socket } from 'node:net';
import pg from 'pg';
import type { ConnectionSettings } from './connection-string.ts';
import { ConnectionLost, DatabaseError } from './port.ts';
import { Session, type SessionEvents } from './session.ts';

const defaultConnectTimeout = 15_000;
const noTls = 'The server does not support SSL connections';

/** What every session of a pool begins with, as PostgreSQL settings. */
export type SessionSettings = Readonly<Record<string, string>>;

export type OpenSession = (events: Omit<SessionEvents, 'cancel'>) => Promise<Session>;

/**
 * Opens connections with `pg` (TLS, SCRAM, start-up: its well-kept part) and hands their sockets to sessions of ours.
 */
export function sessionOpener(connection: ConnectionSettings, settings: SessionSettings): OpenSession {
  return async (events) => {
    const { client, ssl } = await connect(connection);
    const socket = takeSocket(client);
    const session = new Session(socket, { ...events, cancel: () => sendCancel(connection, client, ssl) });
    await configure(session, settings, connection.connectTimeout ?? defaultConnectTimeout);
    return session;
  };
}

interface Opened {
  readonly client: pg.Client;
  readonly ssl: pg.ClientConfig['ssl'];
}

async function connect(connection: ConnectionSettings): Promise<Opened> {
  const { ssl } = connection;
  if (ssl !== 'prefer') return open(connection, ssl === 'disable' ? false : ssl);
  try {
    return await open(connection, { rejectUnauthorized: false });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(noTls)) throw error;
    return open(connection, false);
  }
}

async function open(connection: ConnectionSettings, ssl: pg.ClientConfig['ssl']): Promise<Opened> {
  const client = new pg.Client({
    host: connection.host,
    port: connection.port,
    database: connection.database,
    user: connection.user,
    password: connection.password,
    application_name: connection.applicationName ?? 'pgway',
    options: connection.options,
    connectionTimeoutMillis: connection.connectTimeout ?? defaultConnectTimeout,
    keepAlive: true,
    ssl: ssl ?? false,
  });
  // Once the socket is ours, errors reach us through it; `pg` would throw what it hears without a listener.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // After some failures `pg` leaves the socket open.
    takeSocket(client).destroy();
    throw connectError(error, client);
  }
  return { client, ssl };
}

/** An error of the server keeps its SQLSTATE; everything else is a connection that could not be made. */
function connectError(error: unknown, client: pg.Client): Error {
  if (error instanceof pg.DatabaseError && error.code !== undefined) {
    return new DatabaseError({ severity: 'FATAL', code: error.code, message: error.message }, 0, 'parse');
  }
  const reasons = error instanceof AggregateError ? error.errors : [error];
  const messages = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)));
  return new ConnectionLost(`no connection to ${client.host}:${client.port}: ${messages.join('; ')}`, { cause: error });
}

/** The part of a client that `pg` does not declare. */
interface Internals {
  readonly connection: { readonly stream: Socket };
  readonly processID: number;
  readonly secretKey: number;
}

/** From here on `pg` no longer reads the socket; its listeners for errors and the end stay and do no harm. */
function takeSocket(client: pg.Client): Socket {
  const { stream } = (client as unknown as Internals).connection;
  stream.removeAllListeners('data');
  return stream;
}

/** A cancel request travels on a connection of its own, with TLS when the session has it. */
function sendCancel(settings: ConnectionSettings, client: pg.Client, ssl: pg.ClientConfig['ssl']): Promise<void> {
  const { processID, secretKey } = client as unknown as Internals;
  return new Promise((resolve, reject) => {
    const connection = new pg.Connection({ ssl: ssl ?? false } as pg.ConnectionConfig) as pg.Connection & {
      requestSsl(): void;
      cancel(processId: number, secretKey: number): void;
      connect(port: number | string, host?: string): void;
      readonly stream: Socket;
    };
    connection.stream.setTimeout(settings.connectTimeout ?? defaultConnectTimeout, () =>
      connection.stream.destroy(new Error('timeout')),
    );
    connection.on('connect', () => (ssl ? connection.requestSsl() : connection.cancel(processID, secretKey)));
    connection.on('sslconnect', () => connection.cancel(processID, secretKey));
    connection.on('error', reject);
    // The server closes the connection once it has passed the signal on.
    connection.on('end', resolve);
    if (client.host.startsWith('/')) connection.connect(`${client.host}/.s.PGSQL.${client.port}`);
    else connection.connect(client.port, client.host);
  });
}

/** One round trip: whatever the server's, the role's or the database's defaults are, answers look the same. */
function configure(session: Session, settings: SessionSettings, timeout: number): Promise<void> {
  const names = Object.keys(settings);
  const columns = names.map(
    (_, index) => `pg_catalog.set_config($${index * 2 + 1}::text, $${index * 2 + 2}::text, false)`,
  );
  return new Promise((resolve, reject) => {
    // The pool does not look after the session before it is open.
    const impatience =
      timeout === 0 ? undefined : setTimeout(() => session.destroy('the server did not answer'), timeout);
    session.run({
      steps: [
        {
          statement: { name: '', sql: `select ${columns.join(', ')}` },
          values: names.flatMap((name) => [name, settings[name]!]),
        },
      ],
      mayShare: false,
      timeout: 0,
      done: () => {
        clearTimeout(impatience);
        resolve();
      },
      failed: (error) => {
        clearTimeout(impatience);
        session.end();
        reject(error);
      },
    });
  });
}
