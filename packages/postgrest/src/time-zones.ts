import type { Database } from '@pgway/core';
import { queryCatalog } from '@pgway/core/internal';

/** In lower case: PostgreSQL takes the names of time zones in any case. */
export type TimeZones = ReadonlySet<string>;

/** PostgreSQL reads the view from hundreds of files, which change with the server only. */
const known = new WeakMap<Database, Promise<TimeZones>>();

/** Returns the names of the time zones of the server. */
export function readTimeZones(database: Database): Promise<TimeZones> {
  const found = known.get(database);
  if (found !== undefined) return found;
  const read = queryTimeZones(database);
  known.set(database, read);
  // An error is that of one connection.
  read.catch(() => known.delete(database));
  return read;
}

async function queryTimeZones(database: Database): Promise<TimeZones> {
  const rows = await queryCatalog(database, 'select pg_catalog.lower(name) from pg_catalog.pg_timezone_names', []);
  return new Set(rows.flatMap(([name]) => name ?? []));
}
