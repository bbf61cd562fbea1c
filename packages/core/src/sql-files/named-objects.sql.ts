/** The name of what no text names: the functions of operators and casts. */
export const implicitName = '';

/** Volatile functions of PostgreSQL that change nothing; their results differ from call to call. */
const readingBuiltIns =
  '^(random(_normal)?|array_(sample|shuffle)|bernoulli|system|clock_timestamp|timeofday|gen_random_uuid|uuidv[47]|pg_sleep(_for|_until)?|' +
  'pg_\\w+_size|pg_(is_in_recovery|is_wal_replay_paused|get_wal_replay_pause_state|last_\\w+|current_wal_\\w+|current_logfile)|' +
  'pg_(safe_snapshot_)?blocking_pids|pg_lock_status|pg_stat_get_\\w+|pg_stat_have_stats|pg_stat_file|pg_ls_\\w+|pg_read_(binary_)?file|' +
  'pg_partition_(tree|ancestors)|pg_sequence_last_value|pg_get_sequence_data|pg_xact_\\w+|txid_status|pg_control_\\w+|' +
  'pg_(database_)?collation_actual_version|pg_jit_available|pg_notification_queue_usage)$';

/** Libraries whose volatile functions change nothing: UUIDs and random bytes. */
const readingLibraries = "'$libdir/uuid-ossp', '$libdir/pgcrypto'";

/** Functions in C that only read by their declaration, and run statements from text: of the extensions tablefunc and xml2. */
const dynamicFunctions = "'^(crosstab|connectby$|xpath_table$)'";

const isUserSchema = `n.nspname not in ('pg_catalog', 'information_schema')`;

/**
 * Lists the objects whose names are among `$1`, a JSON array, as far as they have a text or may write. Columns: the name in `$1`, the
 * language of the text, whether the object is volatile, and the text: of functions with the domains of their values, of views, of the conditions of policies for reading, of
 * the checks of domains, and of an aggregate the names of its functions.
 */
export const namedObjectsSql: string = `with word (name) as (
    select pg_catalog.jsonb_array_elements_text($1::pg_catalog.jsonb)
)
  select word.name, l.lanname::pg_catalog.text, p.provolatile = 'v',
    case when l.lanname in ('sql', 'plpgsql') then pg_catalog.concat_ws(' ',
      case when p.prosrc = '' then pg_catalog.substring(pg_catalog.pg_get_functiondef(p.oid), '\\n((?:BEGIN ATOMIC|RETURN ).*)$') else p.prosrc end,
      pg_catalog.pg_get_expr(p.proargdefaults, 0),
      (select pg_catalog.string_agg(pg_catalog.quote_ident(d.typname), ' ') from pg_catalog.pg_type d
        where d.typtype = 'd' and (d.oid = p.prorettype or d.oid = any (p.proargtypes) or d.oid = any (p.proallargtypes)))) end
  from word
    -- A longer word is cut as PostgreSQL cuts names.
    join pg_catalog.pg_proc p on p.proname = word.name::pg_catalog.name
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
  where p.prokind <> 'a'
    and case when ${isUserSchema}
      then case when l.lanname = 'c' and p.provolatile <> 'v' then p.proname::pg_catalog.text ~ ${dynamicFunctions}
        else l.lanname <> 'c' or coalesce(p.probin, '') not in (${readingLibraries}) end
      else p.provolatile = 'v' and p.proname::pg_catalog.text !~ '${readingBuiltIns}'
    end
union all
  select word.name, 'sql', false, pg_catalog.concat_ws(' ', a.aggtransfn::pg_catalog.text, a.aggfinalfn::pg_catalog.text,
    a.aggmtransfn::pg_catalog.text, a.aggminvtransfn::pg_catalog.text, a.aggmfinalfn::pg_catalog.text)
  from word
    join pg_catalog.pg_proc p on p.proname = word.name::pg_catalog.name and p.prokind = 'a'
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_aggregate a on a.aggfnoid = p.oid
  where ${isUserSchema}
union all
  select word.name, 'sql', false, pg_catalog.pg_get_viewdef(c.oid)
  from word
    join pg_catalog.pg_class c on c.relname = word.name::pg_catalog.name and c.relkind = 'v'
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where ${isUserSchema}
union all
  select word.name, 'sql', false, pg_catalog.pg_get_expr(o.polqual, o.polrelid)
  from word
    join pg_catalog.pg_class c on c.relname = word.name::pg_catalog.name and c.relrowsecurity
    join pg_catalog.pg_policy o on o.polrelid = c.oid and o.polcmd in ('r', '*')
union all
  select word.name, 'sql', false, pg_catalog.concat_ws(' ', pg_catalog.pg_get_constraintdef(k.oid), b.typname::pg_catalog.text)
  from word
    join pg_catalog.pg_type t on t.typname = word.name::pg_catalog.name and t.typtype = 'd'
    join pg_catalog.pg_type b on b.oid = t.typbasetype
    left join pg_catalog.pg_constraint k on k.contypid = t.oid
union all
  select word.name, 'sql', false, pg_catalog.quote_ident(p.proname)
  from word
    join (select oprcode::pg_catalog.oid from pg_catalog.pg_operator union select castfunc from pg_catalog.pg_cast) used (oid) on true
    join pg_catalog.pg_proc p on p.oid = used.oid
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where word.name = '${implicitName}' and ${isUserSchema}`;
