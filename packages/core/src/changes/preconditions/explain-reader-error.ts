import { DatabaseError } from '../../postgres/port.ts';
import { publicationName } from './log-facts.ts';

/** What to do about the errors of a connection for replication, by SQLSTATE. */
const remedies: Readonly<Record<string, string>> = {
  // PgBouncer: "unsupported startup parameter: replication".
  '08P01':
    'the connection leads to a pooler, which does not support replication; set changes.connectionString to a connection string of the server itself',
  '28000': 'pg_hba.conf of the server must allow the connection: add a line for the user and the database',
  '42501': 'the user may not read the log; run: alter role <user> replication',
  '42704': `the publication ${publicationName} does not exist; run: pgway install changes`,
  '53300': 'all max_wal_senders are in use; run: alter system set max_wal_senders = <number>; and restart PostgreSQL',
  '53400':
    'all max_replication_slots are in use; run: alter system set max_replication_slots = <number>; and restart PostgreSQL',
  '55000': 'wal_level is below logical; run: alter system set wal_level = logical; and restart PostgreSQL',
};

/** Returns why the log cannot be read, and what to do if that is known. */
export function explainReaderError(error: Error): string {
  const remedy = error instanceof DatabaseError ? remedies[error.diagnostics.code] : undefined;
  return remedy === undefined ? error.message : `${error.message} (${remedy})`;
}
