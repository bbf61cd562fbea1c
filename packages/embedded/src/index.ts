export { PostgresServerError } from './postgres-server-error.ts';
export { type PostgresServer, type PostgresServerOptions, startPostgres } from './start-postgres.ts';
