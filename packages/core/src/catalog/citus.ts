import type { Database } from '../postgres/port.ts';
import { citusNamesSql, hasCitusSql } from './citus.sql.ts';
import { readFingerprint } from './fingerprint.ts';
import { queryCatalog } from './query-catalog.ts';
import { ShardNames } from './shard-names.ts';

/** Returns a hash of all that `readCitus` returns; null for a database without the extension. */
export async function fingerprintCitus(database: Database): Promise<string | null> {
  const [extension] = await queryCatalog(database, hasCitusSql, []);
  return extension === undefined ? null : readFingerprint(database, citusNamesSql, []);
}

/** Returns the names of the distributed tables; null for a database without the extension Citus. */
export async function readCitus(database: Database): Promise<ShardNames | null> {
  const [extension] = await queryCatalog(database, hasCitusSql, []);
  if (extension === undefined) return null;
  const rows = await queryCatalog(database, citusNamesSql, []);
  return new ShardNames(
    rows.map(([schema, table, constraint, hash]) => ({
      schema: schema!,
      table: table!,
      constraint: constraint ?? null,
      hash: hash!,
    })),
  );
}
