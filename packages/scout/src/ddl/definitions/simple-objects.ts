/** Objects whose definition is one row of one query. */
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import { objectGrants, ownerStatements } from '../privileges.ts';
import { foreignOptions } from '../sql-text.ts';
import { databaseObjectQueries } from './database-objects.sql.ts';
import { foreignObjectQueries } from './foreign-objects.sql.ts';
import { operatorQueries } from './operators.sql.ts';
import type { SimpleObject } from './simple-query.ts';
import { textSearchQueries } from './text-search.sql.ts';

export async function readSimpleObjects(source: CatalogSource): Promise<readonly Item[]> {
  const items: Item[] = [];
  const queries = [...databaseObjectQueries(source), ...operatorQueries, ...textSearchQueries, ...foreignObjectQueries];
  for (const { catalog, sql } of queries) {
    // One connection runs one query after the other.
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
