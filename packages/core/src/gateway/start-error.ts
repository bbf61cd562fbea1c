import { ConnectionStringError } from '../postgres/connection-string.ts';
import { ConnectionLost, DatabaseError, ConnectionSetupError } from '../postgres/port.ts';

/** The gateway cannot start. The message has one line for each fault, with its remedy. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Returns an error of the start as a StartError, with a hint for known SQLSTATEs. */
export function toStartError(error: unknown): StartError {
  if (error instanceof StartError) return error;
  return new StartError(startMessage(error), { cause: error });
}

function startMessage(error: unknown): string {
  if (error instanceof ConnectionStringError) return error.message;
  if (error instanceof DatabaseError) {
    const { code, message } = error.diagnostics;
    return `${sqlstateHint(code)}: ${message} (${code})`;
  }
  if (error instanceof ConnectionSetupError) return error.message;
  if (error instanceof ConnectionLost) return `${error.message}; is the server running, and are host and port right?`;
  return error instanceof Error ? error.message : String(error);
}

function sqlstateHint(code: string): string {
  if (code.startsWith('28')) return 'the server refused the user or password of the connection string';
  if (code === '3D000') return 'the database of the connection string does not exist';
  if (code.startsWith('57P')) return 'the server is starting or stopping; try again in a moment';
  if (code === '53300') return 'the server has no connection left for the gateway';
  return 'the catalog could not be read';
}
