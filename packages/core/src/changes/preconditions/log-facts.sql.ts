/** An expression: whether the default equality of a type is a leakproof function, so that PostgreSQL uses an index below policies. */
const isLeakproof = (type: string): string => `exists (
          select from pg_opclass o
            join pg_am m on m.oid = o.opcmethod
            join pg_amop e on e.amopfamily = o.opcfamily and e.amopstrategy = 3
              and e.amoplefttype = o.opcintype and e.amoprighttype = o.opcintype
            join pg_operator q on q.oid = e.amopopr
            join pg_proc f on f.oid = q.oprcode
          where m.amname = 'btree' and o.opcdefault and f.proleakproof and (o.opcintype = ${type} or exists (
            select from pg_cast k where k.castsource = ${type} and k.casttarget = o.opcintype and k.castmethod = 'b' and k.castcontext = 'i')))`;

/** An expression: the names of the columns of an index as JSON; null without one. */
const indexColumns = (relation: string, condition: string): string => `(
          select json_agg(a.attname order by k.place)
          from pg_index i
            cross join lateral unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality k (number, place)
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
          where i.indrelid = ${relation} and i.indisvalid and i.indimmediate and ${condition})`;

/** An expression: the columns of the replica identity; null for `full` and for none. */
const identityColumns = (relation: string, kind: string): string => `case ${kind}
        when 'd' then ${indexColumns(relation, 'i.indisprimary')}
        when 'i' then ${indexColumns(relation, 'i.indisreplident')} end`;

/**
 * Reads what row changes need of a database, as one JSON text, with `search_path` set to `pg_catalog`. `$1` is the name of the publication, `$2`
 * and `$3` are arrays of the schemas and names of tables.
 */
export const logFactsSql: string = `with recursive wanted (schema, name, place) as (
    select * from unnest($2::text[], $3::text[]) with ordinality
), found (place, oid) as (
    select w.place, c.oid
    from wanted w join pg_namespace n on n.nspname = w.schema join pg_class c on c.relnamespace = n.oid and c.relname = w.name
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
), parts (root, oid) as (
    select f.oid, f.oid from found f
  union
    select p.root, h.inhrelid from parts p join pg_inherits h on h.inhparent = p.oid join pg_class c on c.oid = h.inhrelid and c.relispartition
), heirs (root, oid) as (
    select f.oid, f.oid from found f
  union
    select r.root, h.inhrelid from heirs r join pg_inherits h on h.inhparent = r.oid join pg_class c on c.oid = h.inhrelid and not c.relispartition
)
select json_build_object(
  'version', current_setting('server_version_num')::int,
  'isStandby', pg_is_in_recovery(),
  'walLevel', current_setting('wal_level'),
  'user', session_user,
  'mayReplicate', (select r.rolreplication or r.rolsuper from pg_roles r where r.rolname = session_user),
  'standbyNames', current_setting('synchronous_standby_names'),
  'senders', current_setting('max_wal_senders')::int,
  'usedSenders', (select count(*) from pg_stat_replication),
  'slots', current_setting('max_replication_slots')::int,
  'usedSlots', (select count(*) from pg_replication_slots),
  'publication', (
    select json_build_object('allTables', p.puballtables, 'viaRoot', p.pubviaroot,
      'operations', array_remove(array[case when p.pubinsert then 'insert' end, case when p.pubupdate then 'update' end,
        case when p.pubdelete then 'delete' end, case when p.pubtruncate then 'truncate' end], null))
    from pg_publication p where p.pubname = $1),
  'tables', coalesce((
    select json_agg(json_build_object(
      'schema', w.schema,
      'name', w.name,
      'kind', c.relkind,
      'persistence', c.relpersistence,
      'partitionOf', case when c.relispartition then (
        select h.inhparent::regclass::text from pg_inherits h where h.inhrelid = c.oid) end,
      'identity', c.relreplident,
      'identityColumns', ${identityColumns('c.oid', 'c.relreplident')},
      'primaryKey', ${indexColumns('c.oid', 'i.indisprimary')},
      'usableIndex', (
        select x.relname
        from pg_index i join pg_class x on x.oid = i.indexrelid
        where i.indrelid = c.oid and i.indisunique and i.indimmediate and i.indisvalid and i.indpred is null and not exists (
          select from unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) k (number)
            left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
          where a.attnotnull is not true)
        order by x.relname limit 1),
      'hasPolicies', c.relrowsecurity,
      'leakingColumns', (
        select json_agg(a.attname order by a.attnum)
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
          join pg_type t on t.oid = a.atttypid
        where i.indrelid = c.oid and case c.relreplident when 'i' then i.indisreplident else i.indisprimary end
          and not ${isLeakproof("case when t.typtype = 'd' then t.typbasetype else t.oid end")}),
      'parts', (
        select json_agg(json_build_object('schema', pn.nspname, 'name', p.relname, 'persistence', p.relpersistence,
          'identity', p.relreplident, 'identityColumns', ${identityColumns('p.oid', 'p.relreplident')}) order by pn.nspname, p.relname)
        from parts q join pg_class p on p.oid = q.oid and p.relkind = 'r' join pg_namespace pn on pn.oid = p.relnamespace
        where q.root = c.oid and q.oid <> c.oid),
      'heirs', (
        select json_agg(json_build_object('schema', pn.nspname, 'name', p.relname) order by pn.nspname, p.relname)
        from heirs q join pg_class p on p.oid = q.oid join pg_namespace pn on pn.oid = p.relnamespace
        where q.root = c.oid and q.oid <> c.oid),
      'isMember', exists (
        select from pg_publication_rel r join pg_publication p on p.oid = r.prpubid where p.pubname = $1 and r.prrelid = c.oid),
      'isPublished', u.tablename is not null,
      'publishedColumns', (
        select json_agg(a.attname order by a.attnum)
        from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
          join pg_attribute a on a.attrelid = r.prrelid
            -- The column exists since PostgreSQL 15.
            and a.attnum = any (string_to_array(translate(to_jsonb(r) ->> 'prattrs', '[],', ''), ' ')::int2[])
        where p.pubname = $1 and r.prrelid = c.oid),
      'rowFilter', to_jsonb(u) ->> 'rowfilter'
    ) order by w.place)
    from wanted w
      left join found f on f.place = w.place
      left join pg_class c on c.oid = f.oid
      left join pg_publication_tables u on u.pubname = $1 and u.schemaname = w.schema and u.tablename = w.name
  ), '[]'),
  'published', coalesce((
    select json_agg(json_build_object('schema', u.schemaname, 'name', u.tablename) order by u.schemaname, u.tablename)
    from pg_publication_tables u where u.pubname = $1), '[]')
)::text`;
