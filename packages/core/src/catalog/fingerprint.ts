import type { Database, Value } from '../postgres/port.ts';
import { queryCatalog } from './query-catalog.ts';

/**
 * Hashes the rows of a built-in catalog query in the database, whatever their order. The query writes the OIDs of types as `int8`; the hash
 * has their names instead, because databases with the same schema have different OIDs.
 * @returns SHA-256 in hexadecimal digits
 */
export async function readFingerprint(
  database: Database,
  sql: string,
  values: readonly Value[],
  setting?: readonly [name: string, value: string],
): Promise<string> {
  const byName = sql.replaceAll('::int8', '::pg_catalog.regtype');
  const [row] = await queryCatalog(
    database,
    `select pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(
        coalesce(pg_catalog.string_agg(listed.found, E'\\n' order by listed.found collate "C"), ''), 'UTF8')), 'hex')
      from (select found::pg_catalog.text from (${byName}) found) listed`,
    values,
    setting,
  );
  return row![0]!;
}
