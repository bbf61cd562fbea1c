import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { attachIndexItem, indexUses } from './constraints.ts';
import { indexesSql } from './tables.sql.ts';

interface Index {
  readonly oid: string;
  readonly table: string;
  readonly name: string;
  readonly plainName: string;
  readonly definition: string;
  readonly isPartitioned: boolean;
  readonly isPlain: boolean;
  readonly tablespace: string | null;
  readonly tableName: string;
  readonly isOfMaterializedView: boolean;
  readonly isClustered: boolean;
  readonly isReplicaIdentity: boolean;
  readonly parentIndex: string | null;
  readonly parentIndexName: string | null;
  readonly statistics: readonly (readonly [number, number])[] | null;
}

/** @param attachKeys the items that attach the partitions of a table, by the oid of the table */
export async function readIndexes(
  source: CatalogSource,
  attachKeys: ReadonlyMap<string, readonly string[]>,
): Promise<readonly Item[]> {
  const rows = await source.read<Index>('pg_class', indexesSql);
  return rows.flatMap((index) => {
    const { oid, table, name, tableName, parentIndex, parentIndexName } = index;
    const uses = indexUses(tableName, index, index.isOfMaterializedView);
    const item = createItem({
      key: `pg_class/${oid}`,
      target: `INDEX ${name}`,
      object: `pg_class/${table}`,
      structure: {
        kind: 'index',
        index: {
          name,
          definition: index.definition,
          tablespace: index.tablespace,
          statistics: index.statistics ?? [],
          isPartitioned: index.isPartitioned,
          isPlain: index.isPlain,
          parent: parentIndex === null ? null : `pg_class/${parentIndex}`,
          uses,
        },
      },
      requires: [`pg_class/${table}`, ...(attachKeys.get(table) ?? [])],
      statements: [
        index.definition,
        ...(index.tablespace === null ? [] : [`ALTER INDEX ${name} SET TABLESPACE ${index.tablespace}`]),
        ...(index.statistics ?? []).map(
          ([column, value]) => `ALTER INDEX ${name} ALTER COLUMN ${column} SET STATISTICS ${value}`,
        ),
        ...uses,
      ],
    });
    if (parentIndex === null) return [item];
    return [
      item,
      attachIndexItem({ oid, name, parent: parentIndex, parentName: parentIndexName! }, `pg_class/${table}`),
    ];
  });
}
