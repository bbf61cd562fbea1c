/** The contents of the system catalogs, with names in place of oids: independent of the code that is tested. */
import type { TestDatabase } from '@pgway/testing';
import { Client, type QueryResultRow } from 'pg';

interface ForeignKey {
  readonly fktable: string;
  readonly fkcols: readonly string[];
  readonly pktable: string;
  readonly is_array: boolean;
}

/** Values that depend on the history of a database, and expression trees, which `expressionsSql` has as text. */
const ignored = [
  'oid',
  'relfilenode',
  'relpages',
  'reltuples',
  'relallvisible',
  'relallfrozen',
  'relfrozenxid',
  'relminmxid',
  'relispopulated',
  'relhassubclass',
  'relhasrules',
  'relhastriggers',
  'enumsortorder',
  'attmissingval',
  'atthasmissing',
  'ev_action',
  'extconfig',
  'subconninfo',
];

const skipped = [
  'pg_statistic',
  'pg_statistic_ext_data',
  'pg_largeobject',
  'pg_largeobject_metadata',
  'pg_shdepend',
  'pg_seclabel',
  'pg_init_privs',
];

/** The catalogs whose rows refer to rows of any catalog. */
const polymorphic: Readonly<Record<string, string>> = {
  pg_depend: `select pg_describe_object(classid, objid, objsubid) || ' → ' || pg_describe_object(refclassid, refobjid, refobjsubid)
    || ' ' || deptype::text from pg_depend where objid >= 16384`,
  pg_description: `select pg_describe_object(classoid, objoid, objsubid) || ': ' || description from pg_description where objoid >= 16384`,
};

const expressionsSql = `
  select pg_get_constraintdef(oid) from pg_constraint where oid >= 16384
  union all select pg_get_indexdef(indexrelid) from pg_index where indexrelid >= 16384 and indrelid::regclass::text !~ 'pg_toast'
  union all select adrelid::regclass || '.' || (select attname from pg_attribute where attrelid = adrelid and attnum = adnum)
    || pg_get_expr(adbin, adrelid) from pg_attrdef where oid >= 16384
  union all select enumtypid::regtype || string_agg(quote_literal(enumlabel), ',' order by enumsortorder) from pg_enum where oid >= 16384 group by enumtypid
  union all select oid::regclass || pg_get_viewdef(oid) from pg_class where oid >= 16384 and relkind in ('v', 'm')
  union all select pg_get_functiondef(oid) from pg_proc where oid >= 16384 and prokind <> 'a'
  union all select pg_get_triggerdef(oid) from pg_trigger where oid >= 16384 and not tgisinternal
  union all select pg_get_ruledef(oid) from pg_rewrite where oid >= 16384
  union all select polname || pg_get_expr(polqual, polrelid) from pg_policy
  union all select polname || pg_get_expr(polwithcheck, polrelid) from pg_policy
  union all select oid::regclass || pg_get_expr(relpartbound, oid) from pg_class where relispartition
  union all select pg_get_partkeydef(oid) from pg_class where relkind = 'p'
  union all select pg_get_statisticsobjdef(oid) from pg_statistic_ext`;

/** What changes of a schema leave behind: places of columns, the order of options and privileges, toast tables. */
const historical: Readonly<Record<string, string>> = {
  pg_attribute: 'attnum attislocal attndims',
  pg_class: 'relnatts reltoastrelid relhasindex',
  pg_constraint: 'conislocal',
};

/** Expressions for the numbers of columns, as names. */
const columnNames: Readonly<Record<string, string>> = {
  adnum: namesSql('array[adnum]', 'adrelid'),
  conkey: `case when contype in ('c', 'n') then ${namesSql('conkey', 'conrelid', 'a.attname')} else ${namesSql('conkey', 'conrelid')} end`,
  confkey: namesSql('confkey', 'confrelid'),
  indkey: namesSql('indkey::int2[]', 'indrelid'),
  tgattr: namesSql('tgattr::int2[]', 'tgrelid', 'a.attname'),
  stxkeys: namesSql('stxkeys::int2[]', 'stxrelid', 'a.attname'),
  partattrs: namesSql('partattrs::int2[]', 'partrelid'),
  prattrs: namesSql('prattrs::int2[]', 'prrelid', 'a.attname'),
};

function namesSql(numbers: string, relation: string, order = 'u.n'): string {
  return `(select array_agg(a.attname order by ${order}) from unnest(${numbers}) with ordinality u (x, n)
    left join pg_attribute a on a.attrelid = ${relation} and a.attnum = u.x)`;
}

/** Privileges that are not set are those of the owner. */
const initialPrivileges: Readonly<Record<string, string>> = {
  relacl: `acldefault(case relkind when 'S' then 's'::"char" else 'r' end, relowner)`,
  proacl: `acldefault('f', proowner)`,
  typacl: `acldefault('T', typowner)`,
  nspacl: `acldefault('n', nspowner)`,
  lanacl: `acldefault('l', lanowner)`,
  fdwacl: `acldefault('F', fdwowner)`,
  srvacl: `acldefault('S', srvowner)`,
};

/** Returns an expression for a value without its history; null for a value that is only history. */
function withoutHistory(catalog: string, column: string, type: string, sql: string): string | null {
  if (historical[catalog]?.split(' ').includes(column) === true) return null;
  if (columnNames[column] !== undefined) return columnNames[column];
  const list = type === 'aclitem[]' ? `coalesce(${column}, ${initialPrivileges[column] ?? 'null'})` : column;
  const isList = type === 'aclitem[]' || column.endsWith('options');
  return isList && type.endsWith('[]') ? `(select array_agg(x::text order by x::text) from unnest(${list}) x)` : sql;
}

export interface FingerprintOptions {
  /** False: without what a changed schema shows of its history. */
  readonly hasHistory: boolean;
  /** A newer server, which knows the references between catalogs. */
  readonly keysFrom?: string | undefined;
}

/** Returns the sorted rows of all catalogs. Needs PostgreSQL 14. */
export async function fingerprint(
  { connectionString }: Pick<TestDatabase, 'connectionString'>,
  options: FingerprintOptions = { hasHistory: true },
): Promise<readonly string[]> {
  // Names are qualified, whatever the search path of the database is.
  const client = new Client({ connectionString, options: '-c search_path=' });
  await client.connect();
  try {
    return await readCatalogs({ query: async (sql) => (await client.query(sql)).rows }, options);
  } finally {
    await client.end();
  }
}

async function readCatalogs(
  database: {
    query(sql: string): Promise<readonly QueryResultRow[]>;
  },
  options: FingerprintOptions,
): Promise<readonly string[]> {
  const keys =
    options.keysFrom === undefined
      ? ((await database.query(keysSql)) as readonly ForeignKey[])
      : await readKeys(options.keysFrom);
  const columns = (await database.query(
    `select c.relname, a.attname, a.atttypid::regtype::text as type from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'pg_catalog'::regnamespace and c.relkind = 'r' and not c.relisshared and a.attnum > 0 order by c.relname, a.attnum`,
  )) as readonly { readonly relname: string; readonly attname: string; readonly type: string }[];
  const catalogs = [...new Set(columns.map(({ relname }) => relname))].filter((name) => !skipped.includes(name));
  const lines: string[] = [];
  for (const catalog of catalogs) {
    const sql =
      polymorphic[catalog] ??
      rowsSql(
        catalog,
        columns.filter(({ relname }) => relname === catalog),
        { keys, hasHistory: options.hasHistory },
      );
    const rows = await database.query(sql);
    lines.push(...rows.map((row) => `${catalog}: ${String(Object.values(row)[0])}`));
  }
  const expressions = await database.query(expressionsSql);
  lines.push(...expressions.map((row) => String(Object.values(row)[0])));
  return lines
    .filter((line) => !line.includes('pg_toast'))
    .map((line) => line.replaceAll(/((?:RI_ConstraintTrigger_[ac]|Unique_ConstraintTrigger)_)\d+/g, '$1'))
    .toSorted();
}

const keysSql = `select fktable::text, fkcols, pktable::text, is_array from pg_get_catalog_foreign_keys() where array_length(fkcols, 1) = 1`;

async function readKeys(connectionString: string): Promise<readonly ForeignKey[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<ForeignKey>(keysSql)).rows;
  } finally {
    await client.end();
  }
}

function rowsSql(
  catalog: string,
  columns: readonly { readonly attname: string; readonly type: string }[],
  { keys, hasHistory }: Pick<FingerprintOptions, 'hasHistory'> & { readonly keys: readonly ForeignKey[] },
): string {
  const parts = columns
    .filter(({ attname, type }) => !ignored.includes(attname) && type !== 'pg_node_tree')
    .flatMap(({ attname, type }) => {
      const sql = valueSql(catalog, attname, type, keys);
      const value = hasHistory ? sql : withoutHistory(catalog, attname, type, sql);
      return value === null ? [] : [`'${attname}', ${value}`];
    });
  const identity = columns.find(({ type }) => type === 'oid' || type === 'regproc')!.attname;
  const isDropped = catalog === 'pg_attribute' && !hasHistory ? ' and not attisdropped' : '';
  return `select jsonb_build_object(${parts.join(', ')})::text from ${catalog} where ${identity}::oid >= 16384${isDropped}`;
}

function valueSql(catalog: string, column: string, type: string, keys: readonly ForeignKey[]): string {
  // An index that is attached to that of the parent keeps the flag that it was created with; it has no effect.
  if (column === 'connoinherit') return `contype not in ('p', 'u') and connoinherit`;
  const key = keys.find(({ fktable, fkcols }) => fktable === catalog && fkcols[0] === column);
  if (key === undefined) return type === '"char"' || type === 'aclitem[]' ? `${column}::text` : column;
  // Before PostgreSQL 14, there is no description of no object.
  const describe = (value: string): string =>
    `case when ${value} <> 0 then pg_describe_object('${key.pktable}'::regclass, ${value}, 0) end`;
  return key.is_array
    ? `(select array_agg(${describe('x')} order by n) from unnest(${column}::oid[]) with ordinality u (x, n))`
    : describe(`${column}::oid`);
}
