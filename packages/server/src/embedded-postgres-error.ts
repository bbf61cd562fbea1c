/** The embedded PostgreSQL is not installed, did not start, or exited; the message is one line that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
