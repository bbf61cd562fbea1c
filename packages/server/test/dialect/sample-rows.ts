import type { TestDatabase } from '@pgway/testing';

/* Rows for any schema: values by the type of each column, and references to rows that exist. */

export type Row = Readonly<Record<string, unknown>>;

export interface SampleType {
  readonly kind: 'b' | 'c' | 'd' | 'e' | 'r';
  readonly name: string;
  readonly labels: readonly string[];
  /** The element of an array, or the base of a domain. */
  readonly inner: number;
  readonly attributes: readonly { readonly name: string; readonly type: number }[];
}

export interface SampleColumn {
  readonly name: string;
  readonly type: number;
  readonly typmod: number;
  readonly sqlType: string;
  readonly notNull: boolean;
  /** Whether the database gives the value: identities, sequences, and generated columns. */
  readonly isGiven: boolean;
  readonly isUnique: boolean;
  /** Whether it is unique by itself. */
  readonly isUniqueAlone: boolean;
  readonly isKey: boolean;
  readonly isGenerated: boolean;
  readonly identity: '' | 'a' | 'd';
  readonly hasDefault: boolean;
  /** Whether omitting the column gives the same value each time. */
  readonly isStable: boolean;
}

export interface SampleTable {
  readonly schema: string;
  readonly name: string;
  readonly sql: string;
  readonly columns: readonly SampleColumn[];
  readonly keys: readonly ForeignKey[];
}

/** A foreign key, as its own table has it. */
export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  /** The name of the referenced table in SQL. */
  readonly target: string;
  readonly targetColumns: readonly string[];
  /** Whether at most one row references another one. */
  readonly isUnique: boolean;
}

const tablesSql = `
  select c.oid::regclass::text as sql, n.nspname as schema, c.relname as name,
    (select json_agg(json_build_object('name', a.attname, 'type', a.atttypid::int8, 'typmod', a.atttypmod, 'sqlType', format_type(a.atttypid, a.atttypmod),
       'notNull', a.attnotnull or t.typnotnull,
       'isGiven', a.attidentity <> '' or a.attgenerated <> '' or coalesce(pg_get_expr(d.adbin, d.adrelid) like 'nextval%', false),
       'isUnique', exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and a.attnum = any (i.indkey)),
       'isUniqueAlone', exists (select from pg_index i where i.indrelid = c.oid and i.indisunique and i.indkey::text = a.attnum::text),
       'isKey', exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey)),
       'isGenerated', a.attgenerated <> '', 'identity', a.attidentity,
       'hasDefault', d.adbin is not null or t.typdefault is not null,
       'isStable', coalesce(pg_get_expr(d.adbin, d.adrelid), t.typdefault, '') !~* '[(]|current|local') order by a.attnum)
     from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    coalesce((select json_agg(json_build_object('name', k.conname, 'target', k.confrelid::regclass::text,
       'columns', (select json_agg(a.attname order by o) from unnest(k.conkey) with ordinality u (n, o) join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.n),
       'targetColumns', (select json_agg(a.attname order by o) from unnest(k.confkey) with ordinality u (n, o) join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.n),
       'isUnique', exists (select from pg_index i where i.indrelid = c.oid and i.indisunique
         and (select array_agg(x::int2) from unnest(i.indkey) x) <@ k.conkey)) order by k.conname)
     from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0
       and not (select relispartition from pg_class where oid = k.confrelid)), '[]') as keys
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_|^information_schema$'
  order by n.nspname, c.relname`;

const typesSql = `
  select t.oid::int8::text as oid, t.typtype as kind, t.typname as name,
    case when t.typtype = 'd' then t.typbasetype when t.typcategory = 'A' then t.typelem else 0 end::int8::text as inner,
    coalesce((select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid), '[]') as labels,
    coalesce((select json_agg(json_build_object('name', a.attname, 'type', a.atttypid::int8) order by a.attnum)
      from pg_attribute a where a.attrelid = t.typrelid and t.typtype = 'c' and a.attnum > 0), '[]') as attributes
  from pg_type t`;

export interface Sample {
  /** Those that are referenced come first. */
  readonly tables: readonly SampleTable[];
  /** The rows of each table, by its name in SQL. */
  readonly seeds: ReadonlyMap<string, readonly Row[]>;
  /** Returns a value of the column, another one for each of the first numbers. */
  valueOf(column: SampleColumn, number: number): unknown;
  /** Returns a value that no row has. */
  uniqueValue(column: SampleColumn): unknown;
  typeOf(column: SampleColumn): SampleType;
}

const seedCount = 3;

/** Reads the tables, and inserts rows into each of them. */
export async function createSample(database: TestDatabase): Promise<Sample> {
  const types = new Map<number, SampleType>();
  for (const { oid, inner, ...type } of await database.query(typesSql)) {
    types.set(Number(oid), { ...(type as Omit<SampleType, 'inner'>), inner: Number(inner) });
  }
  const tables = sortByReferences((await database.query(tablesSql)) as readonly SampleTable[]);
  const seeds = new Map<string, Row[]>(tables.map(({ sql }) => [sql, []]));
  let counter = 0;
  const valueOf = ({ type, typmod }: SampleColumn, number: number): unknown =>
    typeValue(types, { type, typmod }, number);
  const uniqueValue = ({ type, typmod }: SampleColumn): unknown => uniqueOf(types, { type, typmod }, ++counter);
  for (const table of tables) {
    for (let index = 0; index < seedCount; index++) {
      const references = referenceRows(table, seeds, index);
      if (references === null) throw new Error(`${table.sql} has no row to reference`);
      const row = Object.fromEntries(
        table.columns
          .filter(({ isGiven }) => !isGiven)
          .map((column) => [
            column.name,
            references.has(column.name)
              ? references.get(column.name)
              : column.isUnique
                ? uniqueValue(column)
                : valueOf(column, index),
          ]),
      );
      const names = Object.keys(row).map((name) => `"${name.replaceAll('"', '""')}"`);
      const values =
        names.length === 0
          ? 'default values'
          : `(${names.join()}) select ${names.join()} from json_populate_record(null::${table.sql}, $1)`;
      const [inserted] = await database.query(
        `insert into ${table.sql} as r ${values} returning to_jsonb(r) as row`,
        names.length === 0 ? [] : [JSON.stringify(row)],
      );
      seeds.get(table.sql)!.push(inserted!['row'] as Row);
    }
  }
  return { tables, seeds, valueOf, uniqueValue, typeOf: ({ type }) => types.get(type)! };
}

/** Returns the values of the columns that reference other rows, another one for each index; null: no rows fit together. */
export function referenceRows(
  table: Pick<SampleTable, 'sql' | 'keys' | 'columns'>,
  seeds: ReadonlyMap<string, readonly Row[]>,
  index: number,
): ReadonlyMap<string, unknown> | null {
  const values = new Map<string, unknown>();
  // Keys of few columns last: those of many columns decide for them.
  for (const key of table.keys.toSorted((left, right) => right.columns.length - left.columns.length)) {
    // Of the rows of a table that reference each other once only, each is the first one.
    const rows = key.isUnique && key.target === table.sql ? [] : seeds.get(key.target)!;
    const row = findFitting(key, rows, { start: index, values });
    if (row === undefined && !clear(table, key.columns, values)) return null;
    if (row !== undefined)
      for (const [at, name] of key.columns.entries()) values.set(name, row[key.targetColumns[at]!]);
  }
  return values;
}

/** Returns a row with the values that the columns of the key have already. */
function findFitting(
  { columns, targetColumns }: ForeignKey,
  rows: readonly Row[],
  { start, values }: { readonly start: number; readonly values: ReadonlyMap<string, unknown> },
): Row | undefined {
  return rows
    .map((_, at) => rows[(start + at) % rows.length]!)
    .find((row) => columns.every((name, at) => !values.has(name) || values.get(name) === row[targetColumns[at]!]));
}

/** Sets columns of a key to null, so that it references nothing. Returns whether one of them can be null. */
function clear(
  { columns }: Pick<SampleTable, 'columns'>,
  open: readonly string[],
  values: Map<string, unknown>,
): boolean {
  const isNullable = (name: string): boolean => !columns.find((column) => column.name === name)!.notNull;
  const cleared = open.filter((name) => !values.has(name) && isNullable(name));
  for (const name of cleared) values.set(name, null);
  return cleared.length > 0 || open.some((name) => values.get(name) === null);
}

/** A cycle of keys is open at one whose columns may be null. */
function sortByReferences(tables: readonly SampleTable[]): readonly SampleTable[] {
  const sorted: SampleTable[] = [];
  const rest = new Set(tables);
  while (rest.size > 0) {
    const isReady = ({ sql, keys, columns }: SampleTable, requiredOnly: boolean): boolean =>
      keys.every(
        ({ target, columns: own }) =>
          target === sql ||
          sorted.some((other) => other.sql === target) ||
          (requiredOnly && own.some((name) => !columns.find((column) => column.name === name)!.notNull)),
      );
    const next = [...rest].find((table) => isReady(table, false)) ?? [...rest].find((table) => isReady(table, true));
    if (next === undefined) throw new Error('tables reference each other');
    sorted.push(next);
    rest.delete(next);
  }
  return sorted;
}

interface TypeUse {
  readonly type: number;
  readonly typmod: number;
}

const texts = ['plain', 'with "quotes"', "it's", 'ü 😀', 'two\nlines', '', 'a,b(c)'];

/** Values of domains with a check. */
const domains: Readonly<Record<string, (n: number) => unknown>> = {
  year: (n) => 1950 + n,
  email: (n) => `a${n}@example.org`,
  slug: (n) => `slug-${n}`,
  quantity: (n) => n,
  sku: (n) => `S-${n}`,
  percent: (n) => n + 0.25,
  Emoji: (n) => ['👍', '🎉', ':)'][n % 3],
  amount: (n) => n + 0.5,
  iso: (n) => ['EUR', 'USD', 'JPY'][n % 3],
};

const two = (n: number): string => String(n).padStart(2, '0');
const day = (n: number): string => `2024-${two((n % 12) + 1)}-${two((n % 28) + 1)}`;
const uuid = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;

const builtin: Readonly<Record<string, (n: number, typmod: number) => unknown>> = {
  int2: (n) => (n % 5) + 1,
  int4: (n) => n * 7,
  int8: (n) => n * 1_000_003,
  float4: (n) => n / 2,
  float8: (n) => n / 4,
  numeric: (n) => n + 0.5,
  money: (n) => `${n}.50`,
  bool: (n) => n % 2 === 0,
  date: day,
  timestamp: (n) => `${day(n)}T10:20:30.5`,
  timestamptz: (n) => `${day(n)}T10:20:30Z`,
  time: (n) => `${two(n % 24)}:30`,
  timetz: (n) => `${two(n % 24)}:30+02`,
  interval: (n) => `${n} days`,
  uuid,
  json: (n) => [{ a: n, b: [n] }, [n, 'x'], 'text', n, true][n % 5],
  jsonb: (n) => [{ a: n, b: { c: null } }, [], 'text', 0][n % 4],
  xml: (n) => `<a n="${n}"/>`,
  bytea: (n) => `\\x${two(n % 100)}`,
  inet: (n) => `10.0.0.${n % 256}`,
  macaddr: (n) => `08:00:2b:01:02:${two(n % 100)}`,
  point: (n) => `(${n},1)`,
  bit: (n) => (n % 8).toString(2).padStart(3, '0'),
  varbit: (n) => (n % 8).toString(2),
  daterange: (n) => `[${day(n % 3)},2025-01-01)`,
  numrange: (n) => `[${n},${n + 1.5})`,
  tstzrange: (n) => `["${day(n % 3)} 00:00:00+00",)`,
  text: (n) => texts[n % texts.length],
  name: (n) => `n${n}`,
  varchar: (n, typmod) =>
    Array.from(texts[n % texts.length]!)
      .slice(0, Math.max(0, typmod - 4))
      .join(''),
  bpchar: (n, typmod) => `c${n}`.slice(0, Math.max(1, typmod - 4)),
};

function typeValue(types: ReadonlyMap<number, SampleType>, { type, typmod }: TypeUse, n: number): unknown {
  const { kind, name, labels, inner, attributes } = types.get(type)!;
  if (kind === 'e') return labels[n % labels.length];
  if (kind === 'd') return domains[name]!(n);
  if (kind === 'c')
    return Object.fromEntries(
      attributes.map((each, at) => [each.name, typeValue(types, { type: each.type, typmod: -1 }, n + at)]),
    );
  if (inner !== 0)
    return Array.from({ length: n % 3 }, (_, at) => typeValue(types, { type: inner, typmod: -1 }, n + at));
  return builtin[name]!(n, typmod);
}

function uniqueOf(types: ReadonlyMap<number, SampleType>, { type, typmod }: TypeUse, n: number): unknown {
  const { kind, name, inner } = types.get(type)!;
  if (kind === 'd' && name === 'iso')
    return `${String.fromCodePoint(65 + (Math.floor(n / 676) % 26), 65 + (Math.floor(n / 26) % 26), 65 + (n % 26))}`;
  if (kind === 'd') return uniqueOf(types, { type: inner, typmod: -1 }, n);
  if (name === 'date') return new Date(Date.UTC(1990, 0, 1 + n)).toISOString().slice(0, 10);
  if (name === 'int2') return n;
  return ['text', 'varchar', 'bpchar'].includes(name) ? n.toString(36) : typeValue(types, { type, typmod }, n);
}
