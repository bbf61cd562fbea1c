import type { Client, QueryResultRow } from 'pg';
import { groupBy } from '@pgway/core/internal';
import type { DatabaseObject } from '../catalog/objects.ts';

/** The part of the catalog whose definitions are read. */
export interface CatalogSource {
  /** The major version of the server. */
  readonly version: number;
  /** Whether the user may read `pg_init_privs`. */
  readonly hasInitialPrivileges: boolean;
  /** Runs a query whose parameter `$1` has the oids of the selected objects of the catalog. Returns no rows without objects. */
  readonly read: <Row extends QueryResultRow>(catalog: string, sql: string) => Promise<readonly Row[]>;
}

export async function openCatalogSource(client: Client, selected: readonly DatabaseObject[]): Promise<CatalogSource> {
  const { rows } = await client.query<{ readonly version: string; readonly hasInitialPrivileges: boolean }>(
    `select current_setting('server_version_num') as version,
       has_table_privilege('pg_catalog.pg_init_privs', 'select') as "hasInitialPrivileges"`,
  );
  const keys = selected.map(({ key }) => key.split('/') as [catalog: string, oid: string]);
  const byCatalog = groupBy(keys, ([catalog]) => catalog);
  return {
    version: Math.trunc(Number(rows[0]!.version) / 10_000),
    hasInitialPrivileges: rows[0]!.hasInitialPrivileges,
    read: async <Row extends QueryResultRow>(catalog: string, sql: string) => {
      const selection = byCatalog.get(catalog);
      if (selection === undefined) return [];
      return (await client.query<Row>(sql, [selection.map(([, oid]) => oid)])).rows;
    },
  };
}
