/** Connections of tools: a client of `pg` for a connection string, opened as the gateway opens its connections. */
export { type ConnectionSettings, ConnectionStringError, parseConnectionString } from './connection-string.ts';
export type { ServerAddress } from './connection-parameters.ts';
export { ConnectionLost, ConnectionSetupError, DatabaseError } from './port.ts';
export { openClient } from './session-opener.ts';
