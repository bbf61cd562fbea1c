import { textRunningFunctions, textRunningPrefix } from '../catalog/text-running-functions.ts';

/** The name of what no text names: the functions of operators, operator classes and casts. */
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

/** Functions whose declaration as stable says nothing of the statements that they run. */
const runsText = `p.proname::pg_catalog.text ~ '^(${textRunningFunctions.join('|')}|${textRunningPrefix}\\w*)$'`;

const isUserSchema = `n.nspname not in ('pg_catalog', 'information_schema')`;

/**
 * Lists the objects whose names are among `$1`, a JSON array, as far as they have a text or may write. Columns: the name in `$1`, the
 * language of the text, whether the object is volatile, and the text: of functions with their defaults, of views, of the conditions of
 * policies for reading, of the checks of domains, of an aggregate the names of its functions, and the names of the types that make up a
 * type, a row or the values of a function.
 */
export const namedObjectsSql: string = `with word (name) as (
    select pg_catalog.jsonb_array_elements_text($1::pg_catalog.jsonb)
)
  select word.name, l.lanname::pg_catalog.text, p.provolatile = 'v',
    case when l.lanname in ('sql', 'plpgsql') then
      case when p.prosrc = '' then pg_catalog.substring(pg_catalog.pg_get_functiondef(p.oid), '\\n((?:BEGIN ATOMIC|RETURN ).*)$') else p.prosrc end end
  from word
    -- A longer word is cut as PostgreSQL cuts names.
    join pg_catalog.pg_proc p on p.proname = word.name::pg_catalog.name
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang
  where p.prokind <> 'a'
    and (${runsText} or case when ${isUserSchema}
      then l.lanname <> 'c' or p.provolatile = 'v' and coalesce(p.probin, '') not in (${readingLibraries})
      else p.provolatile = 'v' and p.proname::pg_catalog.text !~ '${readingBuiltIns}'
    end)
union all
  select word.name, 'sql', false, pg_catalog.pg_get_expr(p.proargdefaults, 0)
  from word
    join pg_catalog.pg_proc p on p.proname = word.name::pg_catalog.name and p.proargdefaults is not null
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where ${isUserSchema}
union all
  select word.name, 'sql', false, pg_catalog.quote_ident(x.typname)
  from word
    join pg_catalog.pg_proc p on p.proname = word.name::pg_catalog.name
    join pg_catalog.pg_type x on x.oid = any (
      pg_catalog.array_prepend(p.prorettype, coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[])))
    join pg_catalog.pg_namespace n on n.oid = x.typnamespace
  where ${isUserSchema}
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
  select word.name, 'sql', false, pg_catalog.pg_get_constraintdef(k.oid)
  from word
    join pg_catalog.pg_type t on t.typname = word.name::pg_catalog.name and t.typtype = 'd'
    join pg_catalog.pg_constraint k on k.contypid = t.oid
union all
  -- A value of a type, or of the row type of a relation, has values of these types.
  select distinct word.name, 'sql', false, pg_catalog.quote_ident(x.typname)
  from word
    join pg_catalog.pg_type t on t.typname = word.name::pg_catalog.name
    cross join lateral (
      select t.typbasetype
      union all select t.typelem
      union all select a.atttypid from pg_catalog.pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0
      -- A multirange has constructors of its name, with values of the range.
      union all select r.rngsubtype from pg_catalog.pg_range r where r.rngtypid = t.oid
    ) part (oid)
    join pg_catalog.pg_type x on x.oid = part.oid
    join pg_catalog.pg_namespace n on n.oid = x.typnamespace
  where ${isUserSchema}
union all
  select word.name, 'sql', false, pg_catalog.quote_ident(p.proname)
  from word
    join (select oprcode::pg_catalog.oid from pg_catalog.pg_operator union select castfunc from pg_catalog.pg_cast
      union select amproc from pg_catalog.pg_amproc) used (oid) on true
    join pg_catalog.pg_proc p on p.oid = used.oid
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where word.name = '${implicitName}' and ${isUserSchema}`;
