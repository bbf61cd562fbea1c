import { ExpectedError } from '../expected-error.ts';

/** The embedded PostgreSQL is not installed, did not start, or exited; the message is one line that says what to do. */
export class EmbeddedPostgresError extends ExpectedError {
  override readonly name = 'EmbeddedPostgresError';
}
