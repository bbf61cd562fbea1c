import type { ChangeAccess } from '@pgway/core/internal';
import type { PublishedTables } from './published-tables.ts';

/** What all connections share. */
export interface Services extends ChangeAccess {
  readonly tables: PublishedTables;
}
