import { arrayLiteral } from '../postgres/literal.ts';
import type { Database } from '../postgres/port.ts';
import { queryCatalog } from './query-catalog.ts';
import type { TableName } from './table-name.ts';

/** A view that reads a table with the privileges of an owner to whom the row level security of the table does not apply. */
export interface OwnerView {
  readonly view: TableName;
  readonly table: TableName;
  readonly owner: string;
  /** The view of this owner: the view itself, or one that it reads. */
  readonly via: TableName;
  /** PostgreSQL 15 and later: the view can have the option `security_invoker`. */
  readonly hasOption: boolean;
}

/**
 * Follows each view to its tables, also through other views: a view reads as its owner, or with `security_invoker` as its reader (null).
 * The option set to false states the intention. A null role stands for all roles to which the policies apply.
 */
const ownerViewsSql = `with recursive reading (view, relation, reader, via) as (
    select c.oid, c.oid, null::oid, null::oid
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'v' and (n.nspname::text, c.relname::text) in (select * from unnest($2::text[], $3::text[]))
  union
    select r.view, d.refobjid, case when option.invoker then r.reader else c.relowner end, case when option.invoker then r.via else c.oid end
    from reading r
      join pg_class c on c.oid = r.relation and c.relkind = 'v'
      left join lateral (
        select option_value::boolean from pg_options_to_table(c.reloptions) where option_name = 'security_invoker') option (invoker) on true
      join pg_rewrite w on w.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
        and d.refobjid <> c.oid
    where option.invoker is not false)
select distinct on (1, 2) vn.nspname, v.relname, tn.nspname, t.relname, o.rolname, xn.nspname, x.relname, current_setting('server_version_num')::int >= 150000
from reading
  join pg_class v on v.oid = reading.view
  join pg_namespace vn on vn.oid = v.relnamespace
  join pg_class t on t.oid = reading.relation and t.relrowsecurity
  join pg_namespace tn on tn.oid = t.relnamespace
  join pg_roles o on o.oid = reading.reader
  join pg_class x on x.oid = reading.via
  join pg_namespace xn on xn.oid = x.relnamespace
where (o.rolsuper or o.rolbypassrls or not t.relforcerowsecurity and pg_has_role(o.oid, t.relowner, 'usage'))
  and not exists (
    select from pg_roles r where r.rolname = case when $1::boolean then current_user end
      and (r.rolsuper or r.rolbypassrls or not t.relforcerowsecurity and pg_has_role(r.oid, t.relowner, 'usage')))
order by 1, 2, 3, 4`;

/**
 * Returns the views that bypass policies, each with the first of its tables.
 * @param asConnection whether all callers have the role of the connection; then tables whose policies do not apply to that role are left out
 */
export async function readOwnerViews(
  database: Database,
  views: readonly TableName[],
  asConnection: boolean,
): Promise<readonly OwnerView[]> {
  if (views.length === 0) return [];
  const columns = [arrayLiteral(views.map(({ schema }) => schema)), arrayLiteral(views.map(({ name }) => name))];
  const rows = await queryCatalog(database, ownerViewsSql, [String(asConnection), ...columns]);
  return rows.map(([viewSchema, view, schema, name, owner, viaSchema, via, hasOption]) => ({
    view: { schema: viewSchema!, name: view! },
    table: { schema: schema!, name: name! },
    owner: owner!,
    via: { schema: viaSchema!, name: via! },
    hasOption: hasOption === 't',
  }));
}
