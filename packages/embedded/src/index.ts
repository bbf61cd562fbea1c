export { PostgresServerError } from './postgres-server-error.ts';
export { findRunningPostgres } from './running-postgres.ts';
export { resolveDataDirectory } from './data-directory-path.ts';
export { type PostgresServer, type PostgresServerOptions, startPostgres } from './start-postgres.ts';
