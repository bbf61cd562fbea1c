import { ConnectionStringError } from '../postgres/connection-string.ts';
import { ConnectionLost, DatabaseError, ConnectionSetupError } from '../postgres/port.ts';
import { toError } from '../to-error.ts';

/** The gateway cannot start. The message has one line for each fault, with its remedy. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** The gateway cannot start with these options, whatever the state of its databases. */
export class OptionsError extends StartError {}

/** Returns an error of the start as a StartError, with a hint for known SQLSTATEs. */
export function toStartError(error: unknown): StartError {
  if (error instanceof StartError) return error;
  const Type = error instanceof ConnectionStringError ? OptionsError : StartError;
  return new Type(startMessage(error), { cause: error });
}

function startMessage(error: unknown): string {
  if (error instanceof ConnectionStringError) return error.message;
  if (error instanceof DatabaseError) {
    const { code, message } = error.diagnostics;
    const [fault, remedy] = describeRefusal(code, message);
    return `${fault}: ${message} (${code}); ${remedy}`;
  }
  if (error instanceof ConnectionSetupError) return error.message;
  if (error instanceof ConnectionLost) return `${error.message}; start the server, or correct host and port`;
  return toError(error).message;
}

function describeRefusal(code: string, message: string): readonly [fault: string, remedy: string] {
  // PostgreSQL ends the message with the encryption of the connection. If the server has other lc_messages, the general text remains.
  if (code === '28000' && message.endsWith('no encryption'))
    return [
      'the server refused a connection without TLS',
      'add sslmode=require to the connection string, or allow the user without TLS in pg_hba.conf',
    ];
  if (code.startsWith('28'))
    return [
      'the server refused the user or password of the connection string',
      'correct them, or allow the user in pg_hba.conf',
    ];
  if (code === '3D000')
    return [
      'the database of the connection string does not exist',
      'create it, or correct its name, which is that of the user if the connection string has none',
    ];
  if (code.startsWith('57P')) return ['the server is starting or stopping', 'try again in a moment'];
  if (code === '53300')
    return ['the server has no connection left for the gateway', 'close other connections, or raise max_connections'];
  return ['the catalog could not be read', 'correct this in the database, or use another user'];
}
