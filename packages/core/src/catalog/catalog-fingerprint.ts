import { catalogFingerprintSql } from './catalog-fingerprint.sql.ts';
import { queryCatalog } from './query-catalog.ts';
import type { Database } from '../postgres/port.ts';

/** Returns a text that is another one after each change of the catalog that `catalogFingerprintSql` names. */
export async function readCatalogFingerprint(database: Database): Promise<string> {
  return JSON.stringify(await queryCatalog(database, catalogFingerprintSql, []));
}
