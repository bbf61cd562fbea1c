/** Views and materialized views. */
import { groupBy } from '@pgway/core/internal';
import type { CatalogSource } from '../catalog-source.ts';
import { createItem, type Item } from '../item.ts';
import {
  defaultAclSql,
  objectGrants,
  ownerStatements,
  type Privileges,
  privilegesSql,
  roleSql,
} from '../privileges.ts';
import { withOptions } from '../sql-text.ts';
import { columnGrants, columnSettings } from './columns.ts';
import { columnsSql } from './tables.sql.ts';
import type { Column } from '../structure.ts';

interface View {
  readonly oid: string;
  readonly name: string;
  readonly isMaterialized: boolean;
  readonly isPopulated: boolean;
  readonly rowType: string;
  readonly rule: string;
  readonly query: string;
  readonly options: readonly string[] | null;
  readonly accessMethod: string | null;
  readonly tablespace: string | null;
  readonly owner: string;
  readonly privileges: Privileges | null;
}

const viewsSql = `
select c.oid::text as oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind = 'm' as "isMaterialized", c.relispopulated as "isPopulated", c.reltype::text as "rowType",
  r.oid::text as rule, pg_catalog.pg_get_viewdef(c.oid) as query, c.reloptions as options,
  quote_ident(a.amname) as "accessMethod", quote_ident(s.spcname) as tablespace, ${roleSql('c.relowner')} as owner,
  ${privilegesSql('c.relacl', defaultAclSql('r', 'c.relowner'), 'c.relowner')} as privileges
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
left join pg_catalog.pg_am a on a.oid = c.relam and a.amname <> 'heap'
left join pg_catalog.pg_tablespace s on s.oid = c.reltablespace
where c.oid = any($1::oid[]) and c.relkind in ('v', 'm')`;

export async function readViews(source: CatalogSource): Promise<readonly Item[]> {
  const views = await source.read<View>('pg_class', viewsSql);
  if (views.length === 0) return [];
  const columns = groupBy(
    await source.read<Column>('pg_class', columnsSql(source.version, 'vm')),
    ({ table }) => table,
  );
  return views.flatMap((view) => viewItems(view, columns.get(view.oid) ?? []));
}

function viewItems(view: View, columns: readonly Column[]): readonly Item[] {
  const { oid, name, isMaterialized } = view;
  const kind = isMaterialized ? 'MATERIALIZED VIEW' : 'VIEW';
  const key = `pg_class/${oid}`;
  const main = createItem({
    key,
    target: `${kind} ${name}`,
    structure: {
      kind: 'view',
      view: {
        columns: columns.map((column) => `${column.name} ${column.type} ${column.collation ?? ''}`),
        isMaterialized,
        isPopulated: view.isPopulated,
        replacement: createStatement(view, 'CREATE OR REPLACE'),
      },
    },
    addresses: [
      { key: `pg_type/${view.rowType}`, target: null },
      { key: `pg_rewrite/${view.rule}`, target: null },
    ],
    statements: [createStatement(view, 'CREATE'), ...columns.flatMap((column) => viewColumnSettings(view, column))],
    placeholder: isMaterialized ? null : placeholder(view, columns),
    owner: ownerStatements(`${kind} ${name}`, view.owner),
    grants: [
      ...objectGrants(`TABLE ${name}`, view.privileges),
      ...columns.flatMap((column) => columnGrants(name, column)),
    ],
  });
  const defaults = columns
    .filter(({ defaultText }) => defaultText !== null)
    .map(({ defaultOid, defaultText, name: column }) =>
      createItem({
        key: `pg_attrdef/${defaultOid}`,
        object: key,
        part: `default of ${column}`,
        drop: [`ALTER VIEW ${name} ALTER COLUMN ${column} DROP DEFAULT`],
        requires: [key],
        statements: [`ALTER VIEW ${name} ALTER COLUMN ${column} SET DEFAULT ${defaultText}`],
      }),
    );
  return [main, ...defaults];
}

function createStatement(view: View, create: 'CREATE' | 'CREATE OR REPLACE'): string {
  const { name, isMaterialized, options, accessMethod, tablespace } = view;
  const query = view.query.trim().replace(/;$/, '');
  if (!isMaterialized) return `${create} VIEW ${name}${withOptions(options)} AS\n${query}`;
  const storage = [
    ...(accessMethod === null ? [] : [` USING ${accessMethod}`]),
    withOptions(options),
    ...(tablespace === null ? [] : [` TABLESPACE ${tablespace}`]),
  ].join('');
  // The query may call functions whose tables come later.
  return `CREATE MATERIALIZED VIEW ${name}${storage} AS\n${query}\nWITH NO DATA`;
}

/** The statistics and options of the columns of a materialized view. */
function viewColumnSettings({ name, isMaterialized }: View, column: Column): readonly string[] {
  return isMaterialized ? columnSettings(`ALTER MATERIALIZED VIEW ${name}`, column) : [];
}

/** A view with the same columns, for functions that the view calls and that return its rows. */
function placeholder(view: View, columns: readonly Column[]): Item['placeholder'] {
  const list = columns.map(({ name, type, collation }) => {
    return `    NULL::${type}${collation === null ? '' : ` COLLATE ${collation}`} AS ${name}`;
  });
  return {
    statements: [`CREATE VIEW ${view.name} AS\nSELECT\n${list.join(',\n')}`],
    replacement: [createStatement(view, 'CREATE OR REPLACE')],
  };
}
