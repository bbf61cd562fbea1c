/** In the executable, in place of `embedded/embedded-package.ts`. */
import type * as EmbeddedPackage from '@pgway/embedded';
import { EmbeddedPostgresError } from '../embedded/embedded-postgres-error.ts';

/** @throws EmbeddedPostgresError always */
export function importEmbeddedPackage(): Promise<typeof EmbeddedPackage> {
  return Promise.reject(
    new EmbeddedPostgresError(
      'no database is configured, and this executable has no PostgreSQL; pass --connectionString=postgres://user@localhost:5432/name',
    ),
  );
}
