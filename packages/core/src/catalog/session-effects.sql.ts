import { inUserSchema } from './user-schema.sql.ts';

/** Objects with smaller OIDs are built in. */
const firstUserOid = '16384';

/**
 * Lists the source texts of routines and relations. Columns: `kind`, `schema`, `name`, `language` (of routines) and `source`. Kinds:
 *
 * - `routine`: the body, the parameter defaults and the names of types of parameters and result; of an aggregate, its functions
 * - `relation`: the view definition and the policies
 * - `writes`: triggers, rules, defaults, constraints, indexes and partition keys of a relation, and the names of its domains, partitions and
 *   referencing tables
 * - `type`: the checks of a domain; the names of domains and composite types in another type
 * - `implicit`: functions of operators, operator classes, casts, ranges and event triggers, which no text names
 */
export const sessionEffectsSql: string = `
  select 'routine' as kind, n.nspname::pg_catalog.text as schema, p.proname::pg_catalog.text as name,
    l.lanname::pg_catalog.text as language,
    pg_catalog.concat_ws(' ',
      case when p.prosrc = '' and p.prokind in ('f', 'p')
        then coalesce(pg_catalog.substring(pg_catalog.pg_get_functiondef(p.oid), '\n((?:BEGIN ATOMIC|RETURN ).*)$'),
          pg_catalog.pg_get_functiondef(p.oid))
        else p.prosrc end,
      pg_catalog.pg_get_expr(p.proargdefaults, 0),
      (select pg_catalog.string_agg(pg_catalog.quote_ident(t.typname), ' ' order by t.typname::pg_catalog.text)
        from pg_catalog.pg_type t
        where t.oid = any (coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[]) || p.prorettype)
          and t.oid >= ${firstUserOid})) as source
  from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
  where ${inUserSchema('p.pronamespace')} and l.lanname::pg_catalog.text not in ('internal', 'c')
union all
  select 'routine', n.nspname::pg_catalog.text, p.proname::pg_catalog.text, 'sql',
    pg_catalog.concat_ws(' ', a.aggtransfn::pg_catalog.text, a.aggfinalfn::pg_catalog.text, a.aggcombinefn::pg_catalog.text,
      a.aggmtransfn::pg_catalog.text, a.aggminvtransfn::pg_catalog.text, a.aggmfinalfn::pg_catalog.text)
  from pg_catalog.pg_aggregate a
    join pg_catalog.pg_proc p on p.oid = a.aggfnoid
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where ${inUserSchema('p.pronamespace')}
union all
  select 'relation', n.nspname::pg_catalog.text, c.relname::pg_catalog.text, '',
    pg_catalog.concat_ws(' ',
      case when c.relkind in ('v', 'm') then pg_catalog.pg_get_viewdef(c.oid) end,
      (select pg_catalog.string_agg(pg_catalog.concat_ws(' ', pg_catalog.pg_get_expr(o.polqual, o.polrelid),
          pg_catalog.pg_get_expr(o.polwithcheck, o.polrelid)), ' ' order by o.polname::pg_catalog.text)
        from pg_catalog.pg_policy o where o.polrelid = c.oid))
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${inUserSchema('c.relnamespace')}
union all
  select 'writes', n.nspname::pg_catalog.text, c.relname::pg_catalog.text, '',
    pg_catalog.concat_ws(' ',
      (select pg_catalog.string_agg(pg_catalog.pg_get_triggerdef(t.oid), ' ' order by t.tgname::pg_catalog.text)
        from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal),
      (select pg_catalog.string_agg(pg_catalog.quote_ident(t.typname), ' ' order by a.attnum)
        from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
        where a.attrelid = c.oid and a.attnum > 0 and t.typtype = 'd'),
      (select pg_catalog.string_agg(pg_catalog.pg_get_expr(d.adbin, d.adrelid), ' ' order by d.adnum)
        from pg_catalog.pg_attrdef d where d.adrelid = c.oid),
      (select pg_catalog.string_agg(pg_catalog.pg_get_constraintdef(k.oid), ' ' order by k.conname::pg_catalog.text)
        from pg_catalog.pg_constraint k where k.conrelid = c.oid and k.contype = 'c'),
      (select pg_catalog.string_agg(pg_catalog.pg_get_ruledef(r.oid), ' ' order by r.rulename::pg_catalog.text)
        from pg_catalog.pg_rewrite r where r.ev_class = c.oid and r.rulename::pg_catalog.text <> '_RETURN'),
      (select pg_catalog.string_agg(pg_catalog.pg_get_indexdef(i.indexrelid), ' ' order by x.relname::pg_catalog.text)
        from pg_catalog.pg_index i join pg_catalog.pg_class x on x.oid = i.indexrelid
        where i.indrelid = c.oid and (i.indexprs is not null or i.indpred is not null)),
      case when c.relkind = 'p' then pg_catalog.pg_get_partkeydef(c.oid) end,
      r.tables,
      (select pg_catalog.string_agg(pg_catalog.quote_ident(f.relname), ' ' order by f.relname::pg_catalog.text)
        from pg_catalog.pg_inherits i join pg_catalog.pg_class f on f.oid = i.inhrelid
        where i.inhparent = c.oid))
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    -- No index has the referenced table: a subquery for each table would read all constraints.
    left join (
      select k.confrelid, pg_catalog.string_agg(pg_catalog.quote_ident(f.relname), ' '
        order by f.relname::pg_catalog.text, k.conname::pg_catalog.text) as tables
      from pg_catalog.pg_constraint k join pg_catalog.pg_class f on f.oid = k.conrelid
      where k.contype = 'f'
      group by k.confrelid) r on r.confrelid = c.oid
  where c.relkind in ('r', 'p', 'v', 'f') and ${inUserSchema('c.relnamespace')}
union all
  select 'type', n.nspname::pg_catalog.text, t.typname::pg_catalog.text, '',
    pg_catalog.concat_ws(' ', pg_catalog.quote_ident(e.typname), pg_catalog.quote_ident(b.typname),
      (select pg_catalog.string_agg(pg_catalog.quote_ident(f.typname), ' ' order by a.attnum)
        from pg_catalog.pg_attribute a join pg_catalog.pg_type f on f.oid = a.atttypid
        where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped and f.oid >= ${firstUserOid}))
  from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    left join pg_catalog.pg_type e on e.oid = t.typelem and e.oid >= ${firstUserOid}
    left join pg_catalog.pg_type b on b.oid = t.typbasetype and b.oid >= ${firstUserOid}
  where ${inUserSchema('t.typnamespace')} and (e.oid is not null or b.oid is not null or c.relkind = 'c')
union all
  select 'type', n.nspname::pg_catalog.text, t.typname::pg_catalog.text, '',
    pg_catalog.string_agg(pg_catalog.pg_get_constraintdef(k.oid), ' ' order by k.conname::pg_catalog.text)
  from pg_catalog.pg_constraint k
    join pg_catalog.pg_type t on t.oid = k.contypid
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  where ${inUserSchema('t.typnamespace')}
  group by n.nspname, t.typname
union all
  select 'implicit', n.nspname::pg_catalog.text, p.proname::pg_catalog.text, '', ''
  from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where ${inUserSchema('p.pronamespace')} and (
    exists (select from pg_catalog.pg_operator o where o.oprcode::pg_catalog.oid = p.oid)
    or exists (select from pg_catalog.pg_cast c where c.castfunc = p.oid)
    or exists (select from pg_catalog.pg_amproc m where m.amproc::pg_catalog.oid = p.oid)
    or exists (select from pg_catalog.pg_range g
      where g.rngsubdiff::pg_catalog.oid = p.oid or g.rngcanonical::pg_catalog.oid = p.oid)
    or exists (select from pg_catalog.pg_event_trigger v where v.evtfoid = p.oid))`;
