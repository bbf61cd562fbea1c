/** Opens the selected connection, and asks for what is missing. */
import {
  cancelStatement,
  ConnectionLost,
  type ConnectionSettings,
  ConnectionSetupError,
  DatabaseError,
  openClient,
} from '@pgway/core/connection';
import { setTimeout } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { untilAborted } from '../process/interruption.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { type ConnectionName, serverText } from './connection-name.ts';
import { offerSettingsFile, promptConnection, promptPassword } from './prompt-connection.ts';
import { findConnection } from './find-connection.ts';
import { type ConnectionParts, connectionName } from './select-connection.ts';
import type { Settings } from './settings.ts';

export interface ConnectionChoice {
  readonly process: ProcessContext;
  /** Aborted at Ctrl-C. */
  readonly signal: AbortSignal;
  /** The value of `--connection`. */
  readonly selected: string | null;
  /** The values of `-h`, `-p`, `-d` and `-U`. */
  readonly parts: ConnectionParts;
  readonly settings: Settings;
}

/** Runs the function with a connection, and closes it. */
export async function withConnection<Result>(
  choice: ConnectionChoice,
  use: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const { signal } = choice;
  const connection = await untilAborted(signal, openConnection(choice));
  const interrupt = (): void => void cancel(connection);
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    const result = await use(connection);
    signal.throwIfAborted();
    return result;
  } catch (error) {
    signal.throwIfAborted();
    if (isLost(error))
      throw new CommandError(`${nameText(connection.name)}: the connection was lost: ${error.message}`);
    throw error;
  } finally {
    signal.removeEventListener('abort', interrupt);
    await connection.client.end().catch(() => {});
  }
}

/** Milliseconds. */
const cancelTimeoutMs = 1_000;

/** Cancels the statement that the connection runs. A server that does not answer is disconnected. */
async function cancel({ client }: Connection): Promise<void> {
  await cancelStatement(client, cancelTimeoutMs).catch(() => {});
  await setTimeout(cancelTimeoutMs, undefined, { ref: false });
  await client.end().catch(() => {});
}

/** Errors with which the server ends a connection: shutdown or administrator command, crash, dropped database, timeouts of idle sessions. */
const endsConnection: ReadonlySet<string> = new Set(['57P01', '57P02', '57P04', '57P05', '25P03', '25P04']);

/** `pg` has no class for a lost connection. */
function isLost(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (endsConnection.has(code ?? '')) return true;
  return /^(Connection terminated|Client has encountered a connection error)/.test(error.message) ||
    /^E[A-Z]+$/.test(code ?? '')
    ? !('severity' in error) && !('path' in error)
    : false;
}

async function openConnection({ process, selected, parts, settings }: ConnectionChoice): Promise<Connection> {
  const found = await findConnection({ selected, settings, parts, process });
  if (found !== null) return connect(found.settings, process);
  if (!process.isInteractive) {
    throw new UsageError('no database is named; pass --connection=postgres://user@host:5432/name, or set PGDATABASE');
  }
  const answers = await promptConnection(process);
  const connection = await connect(answers, process);
  await offerSettingsFile(process, connection.name);
  return connection;
}

async function connect(settings: ConnectionSettings, process: ProcessContext): Promise<Connection> {
  const name = connectionName(settings);
  const complete = { applicationName: 'pgscout', ...settings, database: name.database, user: name.user };
  try {
    return await opened(complete, name);
  } catch (error) {
    if (!needsPassword(error, settings) || !process.isInteractive) throw failure(error, name);
  }
  const password = await promptPassword(process, name);
  try {
    return await opened({ ...complete, password }, name);
  } catch (error) {
    throw failure(error, name);
  }
}

/** Of several servers, later connections and the client tools use the one that was chosen. */
async function opened(settings: ConnectionSettings, name: ConnectionName): Promise<Connection> {
  const client = await openClient(settings);
  const { furtherServers, ...own } = settings;
  if (furtherServers === undefined) return { client, name, settings };
  const { host, port } = client;
  return { client, name: { ...name, host, port }, settings: { ...own, host, port } };
}

/** Whether the server wants a password, and the connection has none. */
function needsPassword(error: unknown, { password }: ConnectionSettings): boolean {
  if (password !== undefined) return false;
  if (error instanceof DatabaseError) return error.diagnostics.code === '28P01';
  return error instanceof ConnectionSetupError && error.message.includes('requests a password');
}

/** Returns one line that names host, port, database and user. */
function failure(error: unknown, name: ConnectionName): unknown {
  if (!(error instanceof DatabaseError) && !(error instanceof ConnectionLost)) return error;
  const reason = error.message.replace(`no connection to ${name.host}:${name.port}: `, '').replaceAll('\n', ' ');
  return new CommandError(`no connection to ${nameText(name)}: ${reason}`);
}

function nameText(name: ConnectionName): string {
  return `database ${JSON.stringify(name.database)} on ${serverText(name)} as user ${JSON.stringify(name.user)}`;
}
