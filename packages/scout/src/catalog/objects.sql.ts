/** The kinds of objects in the order in which they are listed. */
export const objectKinds = [
  'SCHEMA',
  'EXTENSION',
  'LANGUAGE',
  'ACCESS METHOD',
  'COLLATION',
  'TYPE',
  'DOMAIN',
  'SEQ',
  'TABLE',
  'FOREIGN DATA WRAPPER',
  'SERVER',
  'USER MAPPING',
  'FOREIGN TABLE',
  'VIEW',
  'MATERIALIZED VIEW',
  'FUNCTION',
  'PROCEDURE',
  'AGGREGATE',
  'OPERATOR',
  'OPERATOR FAMILY',
  'OPERATOR CLASS',
  'CAST',
  'CONVERSION',
  'TRANSFORM',
  'TEXT SEARCH PARSER',
  'TEXT SEARCH TEMPLATE',
  'TEXT SEARCH DICTIONARY',
  'TEXT SEARCH CONFIGURATION',
  'STATISTICS',
  'RULE',
  'TRIGGER',
  'POLICY',
  'EVENT TRIGGER',
  'PUBLICATION',
  'DEFAULT PRIVILEGES',
  'SUBSCRIPTION',
  'LARGE OBJECT',
] as const;

export type ObjectKind = (typeof objectKinds)[number];

/** A select of objects: kind, schema, table, name, signature and qualified name of the rows of one catalog. */
interface Source {
  readonly catalog: string;
  /** A kind in quotes, or an expression. */
  readonly kind: string;
  /** The column with the oid of the schema; null: outside of schemas. */
  readonly schema: string | null;
  readonly name: string;
  /** The column with the oid of the table. */
  readonly table?: string;
  readonly signature?: string;
  readonly condition?: string;
}

const relationKind = `case o.relkind when 'S' then 'SEQ' when 'v' then 'VIEW' when 'm' then 'MATERIALIZED VIEW'
  when 'f' then 'FOREIGN TABLE' else 'TABLE' end`;
const routineKind = `case o.prokind when 'p' then 'PROCEDURE' when 'a' then 'AGGREGATE' else 'FUNCTION' end`;
/** Row types of tables, arrays and multiranges belong to other objects. */
const isOwnType = `o.typtype in ('b', 'c', 'd', 'e', 'r', 'p') and not exists (select from pg_catalog.pg_type e where e.typarray = o.oid)
  and (o.typrelid = 0 or exists (select from pg_catalog.pg_class c where c.oid = o.typrelid and c.relkind = 'c'))`;

const sources: readonly Source[] = [
  { catalog: 'pg_namespace', kind: `'SCHEMA'`, schema: null, name: 'nspname' },
  { catalog: 'pg_extension', kind: `'EXTENSION'`, schema: null, name: 'extname' },
  { catalog: 'pg_language', kind: `'LANGUAGE'`, schema: null, name: 'lanname' },
  { catalog: 'pg_am', kind: `'ACCESS METHOD'`, schema: null, name: 'amname' },
  { catalog: 'pg_collation', kind: `'COLLATION'`, schema: 'collnamespace', name: 'collname' },
  {
    catalog: 'pg_type',
    kind: `case o.typtype when 'd' then 'DOMAIN' else 'TYPE' end`,
    schema: 'typnamespace',
    name: 'typname',
    condition: isOwnType,
  },
  {
    catalog: 'pg_class',
    kind: relationKind,
    schema: 'relnamespace',
    name: 'relname',
    condition: `o.relkind in ('r', 'p', 'v', 'm', 'S', 'f')`,
  },
  { catalog: 'pg_foreign_data_wrapper', kind: `'FOREIGN DATA WRAPPER'`, schema: null, name: 'fdwname' },
  { catalog: 'pg_foreign_server', kind: `'SERVER'`, schema: null, name: 'srvname' },
  {
    catalog: 'pg_proc',
    kind: routineKind,
    schema: 'pronamespace',
    name: 'proname',
    signature: `'(' || pg_catalog.oidvectortypes(o.proargtypes) || ')'`,
  },
  {
    catalog: 'pg_operator',
    kind: `'OPERATOR'`,
    schema: 'oprnamespace',
    name: 'oprname',
    signature: `'(' || concat_ws(', ', case o.oprleft when 0 then 'NONE' else pg_catalog.format_type(o.oprleft, null) end,
      pg_catalog.format_type(o.oprright, null)) || ')'`,
  },
  {
    catalog: 'pg_opfamily',
    kind: `'OPERATOR FAMILY'`,
    schema: 'opfnamespace',
    name: 'opfname',
    signature: `' USING ' || (select quote_ident(a.amname) from pg_catalog.pg_am a where a.oid = o.opfmethod)`,
  },
  {
    catalog: 'pg_opclass',
    kind: `'OPERATOR CLASS'`,
    schema: 'opcnamespace',
    name: 'opcname',
    signature: `' USING ' || (select quote_ident(a.amname) from pg_catalog.pg_am a where a.oid = o.opcmethod)`,
  },
  { catalog: 'pg_conversion', kind: `'CONVERSION'`, schema: 'connamespace', name: 'conname' },
  { catalog: 'pg_ts_parser', kind: `'TEXT SEARCH PARSER'`, schema: 'prsnamespace', name: 'prsname' },
  { catalog: 'pg_ts_template', kind: `'TEXT SEARCH TEMPLATE'`, schema: 'tmplnamespace', name: 'tmplname' },
  { catalog: 'pg_ts_dict', kind: `'TEXT SEARCH DICTIONARY'`, schema: 'dictnamespace', name: 'dictname' },
  { catalog: 'pg_ts_config', kind: `'TEXT SEARCH CONFIGURATION'`, schema: 'cfgnamespace', name: 'cfgname' },
  { catalog: 'pg_statistic_ext', kind: `'STATISTICS'`, schema: 'stxnamespace', name: 'stxname' },
  {
    catalog: 'pg_rewrite',
    kind: `'RULE'`,
    schema: null,
    table: 'ev_class',
    name: 'rulename',
    condition: `not (o.rulename = '_RETURN' and o.ev_type = '1')`,
  },
  {
    catalog: 'pg_trigger',
    kind: `'TRIGGER'`,
    schema: null,
    table: 'tgrelid',
    name: 'tgname',
    condition: 'not o.tgisinternal and o.tgparentid = 0',
  },
  { catalog: 'pg_policy', kind: `'POLICY'`, schema: null, table: 'polrelid', name: 'polname' },
  { catalog: 'pg_event_trigger', kind: `'EVENT TRIGGER'`, schema: null, name: 'evtname' },
  { catalog: 'pg_publication', kind: `'PUBLICATION'`, schema: null, name: 'pubname' },
];

/** Objects without a name. */
const unnamed = `
  select 'pg_catalog.pg_cast'::regclass, o.oid, 'CAST', null::name, null::name, null::oid,
    format('(%s AS %s)', pg_catalog.format_type(o.castsource, null), pg_catalog.format_type(o.casttarget, null)), ''
  from pg_catalog.pg_cast o
  union all
  select 'pg_catalog.pg_transform'::regclass, o.oid, 'TRANSFORM', null, null, null,
    format('FOR %s LANGUAGE %I', pg_catalog.format_type(o.trftype, null), l.lanname), ''
  from pg_catalog.pg_transform o join pg_catalog.pg_language l on l.oid = o.trflang
  union all
  select 'pg_catalog.pg_user_mapping'::regclass, o.umid, 'USER MAPPING', null, null, null,
    format('FOR %s SERVER %I', case o.umuser when 0 then 'public' else quote_ident(o.usename) end, o.srvname), ''
  from pg_catalog.pg_user_mappings o`;

const defaultPrivileges = `
  select 'pg_catalog.pg_default_acl'::regclass, o.oid, 'DEFAULT PRIVILEGES', null, null, null,
    format('FOR ROLE %I%s ON %s', pg_catalog.pg_get_userbyid(o.defaclrole), coalesce(' IN SCHEMA ' || quote_ident(n.nspname), ''),
      case o.defaclobjtype when 'r' then 'TABLES' when 'S' then 'SEQUENCES' when 'f' then 'FUNCTIONS' when 'T' then 'TYPES'
        when 'n' then 'SCHEMAS' else 'LARGE OBJECTS' end), ''
  from pg_catalog.pg_default_acl o left join pg_catalog.pg_namespace n on n.oid = o.defaclnamespace`;

function select({ catalog, kind, schema, name, table, signature, condition }: Source): string {
  const namespace = schema ?? (table === undefined ? null : 'relnamespace');
  return `select 'pg_catalog.${catalog}'::regclass, o.oid, ${kind}, ${namespace === null ? 'null::name' : 'n.nspname'},
      ${table === undefined ? 'null::name, null::oid' : 't.relname, t.oid'}, o.${name}::text, ${signature ?? `''`}
    from pg_catalog.${catalog} o
    ${table === undefined ? '' : `join pg_catalog.pg_class t on t.oid = o.${table}`}
    ${namespace === null ? '' : `join pg_catalog.pg_namespace n on n.oid = ${table === undefined ? 'o' : 't'}.${namespace}`}
    where ${condition ?? 'true'}${namespace === null ? '' : ` and ${isUserSchema}`}`;
}

const isUserSchema = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;

/** Objects below this oid are those of PostgreSQL itself. */
const firstUserOid = 16384;

/**
 * Members of extensions and internal parts, such as the sequence of an identity column, belong to other objects. `public` is created with
 * the database, and belongs to its users.
 */
export const objectsSql = (hasDefaultPrivileges: boolean): string => `
with all_objects (class, oid, kind, schema, "table", "tableOid", name, signature) as (
  ${sources.map(select).join('\n  union all\n  ')}
  union all ${unnamed}
  ${hasDefaultPrivileges ? `union all ${defaultPrivileges}` : ''}
), own as (
  select o.* from all_objects o
  where (o.oid >= ${firstUserOid} or (o.kind = 'SCHEMA' and o.name = 'public'))
    and not (o.kind = 'SCHEMA' and o.name ~ '^pg_')
    and not exists (select from pg_catalog.pg_depend d where d.classid = o.class and d.objid = o.oid and d.objsubid = 0 and d.deptype in ('e', 'i'))
)
select o.class::regclass::text || '/' || o.oid as key, o.kind, o.schema, o."table", 'pg_class/' || o."tableOid" as "tableKey", o.name, o.signature,
  concat_ws('.', quote_ident(o.schema), quote_ident(o."table"),
    case when o.kind in ('CAST', 'TRANSFORM', 'USER MAPPING', 'DEFAULT PRIVILEGES') then o.name
      when o.kind = 'OPERATOR' then o.name else quote_ident(o.name) end) || o.signature as "qualifiedName"
from own o
order by array_position(array[${objectKinds.map((kind) => `'${kind}'`).join(', ')}], o.kind::text),
  o.schema collate "C", o."table" collate "C", o.name collate "C", o.signature collate "C"`;

export const subscriptionsSql = `
select 'pg_subscription/' || s.oid as key, 'SUBSCRIPTION' as kind, null as schema, null as "table", null as "tableKey", s.subname as name,
  '' as signature, quote_ident(s.subname) as "qualifiedName"
from pg_catalog.pg_subscription s
where s.subdbid = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
order by s.subname collate "C"`;

/** `pg_description` names them by the catalog of their content. */
export const largeObjectsSql = `
select 'pg_largeobject/' || o.oid as key, 'LARGE OBJECT' as kind, null as schema, null as "table", null as "tableKey", o.oid::text as name,
  '' as signature, o.oid::text as "qualifiedName"
from pg_catalog.pg_largeobject_metadata o order by o.oid`;
