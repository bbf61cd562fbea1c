/**
 * Lists constraints of tables and domains, and unique indexes without a constraint, on PostgreSQL 13 and later. The columns are `oid`,
 * `parent` (the constraint that this one is inherited from), `schema`, `relation` (or domain), `name`, `type` (`pg_constraint.contype`),
 * `columns` (a JSON array, the columns of expressions included) and `comment`.
 */
export const constraintsSql: string = `select o.oid::int8,
      coalesce(nullif(o.conparentid, 0), case when o.contype = 'c' and o.coninhcount > 0 then (
        select h.oid
        from pg_catalog.pg_inherits i join pg_catalog.pg_constraint h on h.conrelid = i.inhparent
        where i.inhrelid = o.conrelid and h.contype = 'c' and h.conname = o.conname
        limit 1
      ) end)::int8,
      n.nspname, coalesce(c.relname, t.typname), o.conname, o.contype, (
        select pg_catalog.json_agg(a.attname order by pg_catalog.array_position(o.conkey, a.attnum))
        from pg_catalog.pg_attribute a
        where a.attrelid = o.conrelid and a.attnum = any (o.conkey) and a.attnum > 0
      ), d.description
    from pg_catalog.pg_constraint o
      join pg_catalog.pg_namespace n on n.oid = o.connamespace
      left join pg_catalog.pg_class c on c.oid = o.conrelid
      left join pg_catalog.pg_type t on t.oid = o.contypid
      left join pg_catalog.pg_description d
        on d.classoid = 'pg_catalog.pg_constraint'::pg_catalog.regclass and d.objoid = o.oid and d.objsubid = 0
    where o.contype <> 't' and n.nspname::text !~ '^pg_' and n.nspname::text <> 'information_schema'
  union all
    select x.oid::int8, null::int8, n.nspname, c.relname, x.relname, 'u', (
        select pg_catalog.json_agg(a.attname order by a.attnum)
        from pg_catalog.pg_attribute a
        where a.attrelid = i.indrelid and a.attnum > 0 and (a.attnum = any (i.indkey::int2[])
          or 0 = any (i.indkey::int2[]) and exists (
            select from pg_catalog.pg_depend p
            where p.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and p.objid = x.oid
            and p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and p.refobjid = i.indrelid and p.refobjsubid = a.attnum))
      ), d.description
    from pg_catalog.pg_index i
      join pg_catalog.pg_class x on x.oid = i.indexrelid
      join pg_catalog.pg_class c on c.oid = i.indrelid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      left join pg_catalog.pg_description d
        on d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objoid = x.oid and d.objsubid = 0
    where i.indisunique and n.nspname::text !~ '^pg_' and n.nspname::text <> 'information_schema'
    and not exists (
      select from pg_catalog.pg_constraint o
      where o.conrelid = i.indrelid and o.conindid = i.indexrelid and o.contype in ('p', 'u', 'x'))`;
