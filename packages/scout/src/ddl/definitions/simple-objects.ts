/** Objects whose definition is one row of one query. */
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { objectGrants, ownerStatements, type Privileges } from '../privileges.ts';
import { foreignOptions } from '../sql-text.ts';
import { databaseObjectQueries } from './database-objects.sql.ts';
import { foreignObjectQueries } from './foreign-objects.sql.ts';
import { operatorQueries } from './operators.sql.ts';
import { textSearchQueries } from './text-search.sql.ts';

/** A query for objects of one catalog. */
export interface SimpleQuery {
  readonly catalog: string;
  /** Selects the columns of {@link SimpleObject} for the oids in `$1`. */
  readonly sql: string;
}

/** The columns of a query; those that are absent have no value. */
export interface SimpleObject {
  readonly oid: string;
  /** As in `COMMENT ON`; null for objects without comments. */
  readonly target: string | null;
  readonly statements: readonly string[];
  /** Null: `DROP` with the target. */
  readonly drop?: string;
  /** For objects with options: the statement that alters it, and the options as in the catalog. */
  readonly alter?: string;
  readonly options?: readonly string[] | null;
  /** Null: the same as `target`. */
  readonly ownerTarget?: string | null;
  readonly owner?: string | null;
  /** As in `GRANT … ON`. */
  readonly grantTarget?: string;
  readonly privileges?: Privileges | null;
}

export async function readSimpleObjects(source: CatalogSource): Promise<readonly Item[]> {
  const items: Item[] = [];
  const queries = [
    ...databaseObjectQueries(source.version),
    ...operatorQueries,
    ...textSearchQueries,
    ...foreignObjectQueries,
  ];
  for (const { catalog, sql } of queries) {
    // One connection runs one query after the other.
    // oxlint-disable-next-line no-await-in-loop
    const rows = await source.read<SimpleObject>(catalog, sql);
    items.push(...rows.map((row) => simpleItem(catalog, row)));
  }
  return items;
}

function simpleItem(catalog: string, row: SimpleObject): Item {
  const { oid, target, statements, drop, ownerTarget = null, owner = null, grantTarget, privileges = null } = row;
  const { alter, options } = row;
  const altered = ownerTarget ?? target;
  return createItem({
    key: `${catalog}/${oid}`,
    target,
    statements:
      alter === undefined ? statements : statements.map((text) => `${text}${foreignOptions(options ?? null)}`),
    ...(alter === undefined ? {} : { structure: optionsStructure(row) }),
    ...(drop === undefined ? {} : { drop: [drop] }),
    owner: owner === null || altered === null ? [] : ownerStatements(altered, owner),
    grants: grantTarget === undefined ? [] : objectGrants(grantTarget, privileges),
  });
}

function optionsStructure({ alter, statements, options }: SimpleObject): Item['structure'] {
  return { kind: 'options', options: { alter: alter!, base: statements.join(), options: options ?? [] } };
}
