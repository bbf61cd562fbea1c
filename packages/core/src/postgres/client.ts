/** Connections of tools: a client of `pg` for a connection string, opened as the gateway opens its connections. */
export { type ConnectionSettings, ConnectionStringError, parseConnectionString } from './connection-string.ts';
import { toPgClient } from './pg-client.ts';
import { sendCancelRequest } from './session-opener.ts';

export type { ServerAddress } from './connection-parameters.ts';
export { ConnectionLost, ConnectionSetupError, DatabaseError } from './port.ts';
export { openClient } from './session-opener.ts';

/**
 * Asks the server to cancel the statement that a client runs, over a connection of its own.
 * @throws Error when the request cannot be sent within the milliseconds
 */
export function cancelStatement(client: object, timeoutMs: number): Promise<void> {
  return sendCancelRequest(toPgClient(client), timeoutMs);
}
