import fc from 'fast-check';

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Names that need quotes, are keywords, or are long. */
const name = fc.oneof(
  fc.constantFrom(
    'a',
    'Film',
    'select',
    'über',
    'with space',
    `it's`,
    'back\\slash',
    '$$',
    '--',
    'semi;colon',
    '"',
    '%s',
    '%I',
  ),
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).filter((text) => !/\0|\p{Surrogate}/u.test(text)),
  fc.constant('n'.repeat(60)),
);
const text = fc.string({ maxLength: 20, unit: 'grapheme' }).filter((value) => !/\0|\p{Surrogate}/u.test(value));

/** A type, with a default for it and a check on a column. */
const type = fc.constantFrom(
  ['int', '1 + 2', '> 0'],
  ['numeric(10, 3)', '-1.5', '<> 0'],
  ['varchar(20)', `'x'::varchar`, `<> ''`],
  ['timestamptz(3)', 'now()', `> '2000-01-01'`],
  ['int[]', `'{1,2}'`, 'is not null'],
  ['jsonb', `'{"a": 1}'`, 'is not null'],
  ['interval day to second', `'1 day'`, `> '0'`],
  ['bit varying(5)', `B'101'`, 'is not null'],
  ['boolean', 'true', 'is not false'],
  ['mood', `'ok'`, `in ('ok', 'it''s')`],
  ['positive', '1', '< 100'],
) as fc.Arbitrary<readonly [string, string, string]>;

const column = fc.record({
  type,
  hasDefault: fc.boolean(),
  isNotNull: fc.boolean(),
  hasCheck: fc.boolean(),
  isUnique: fc.boolean(),
  comment: fc.option(text),
});

const table = fc.record({
  kind: fc.constantFrom('plain', 'identity', 'serial', 'child', 'partitioned', 'unlogged'),
  columns: fc.uniqueArray(fc.tuple(name, column), { minLength: 1, maxLength: 5, selector: ([key]) => key }),
  comment: fc.option(text),
  hasView: fc.boolean(),
  hasReference: fc.boolean(),
  hasTrigger: fc.boolean(),
  grants: fc.subarray(['select', 'insert', 'update', 'delete', 'truncate']),
});
type Table = typeof table extends fc.Arbitrary<infer T> ? T : never;

function columnSql([
  key,
  {
    type: [typeName, byDefault, check],
    ...has
  },
]: Table['columns'][number]): string {
  return [
    `${quote(key)} ${typeName}`,
    ...(has.hasDefault ? [`default ${byDefault}`] : []),
    ...(has.isNotNull ? ['not null'] : []),
    ...(has.hasCheck ? [`check (${quote(key)} ${check})`] : []),
  ].join(' ');
}

const keys: Readonly<Record<Table['kind'], string>> = {
  plain: 'id__ int primary key',
  identity: 'id__ int generated always as identity (increment 3) primary key',
  serial: 'id__ serial primary key',
  child: 'id__ int primary key',
  partitioned: 'id__ int primary key',
  unlogged: 'id__ int primary key',
};

function tableSql(index: number, { kind, columns, ...has }: Table): readonly string[] {
  const own = `t.${quote(`t${index}`)}`;
  const isChild = kind === 'child' && index > 0;
  // Equal columns of parent and child must have equal types.
  const named = columns.map(([key, value]) => [`${isChild ? `c${index}` : ''}${key}`.slice(0, 15), value] as const);
  const unique = named.filter(([key], position) => named.findIndex(([other]) => other === key) === position);
  const lines = [keys[kind], ...unique.map((entry) => columnSql([entry[0], entry[1]]))].join(', ');
  const partition = isChild ? ` inherits (t.${quote(`t${index - 1}`)})` : '';
  const canRefer = has.hasReference && index > 0 && kind !== 'unlogged';
  return [
    `create ${kind === 'unlogged' ? 'unlogged ' : ''}table ${own} (${lines})${kind === 'partitioned' ? ' partition by range (id__)' : partition}`,
    ...partitions(index, kind, own),
    ...unique
      .filter(([, value]) => value.isUnique && value.type[0] !== 'jsonb')
      .map(([key], position) => `create index i${index}_${position} on ${own} (${quote(key)} desc)`),
    ...unique.flatMap(([key, value]) => comment(`column ${own}.${quote(key)}`, value.comment)),
    ...comment(`table ${own}`, has.comment),
    ...when(canRefer, `alter table ${own} add column ref__${index} int references t.root on delete set null`),
    ...when(has.hasTrigger, `create trigger tr before insert on ${own} for each row execute function t.touch('a''b')`),
    ...when(has.grants.length > 0, `grant ${has.grants.join(', ')} on ${own} to public`),
    ...when(has.hasView, `create view t.v${index} as select *, row_number() over () as n__ from ${own} where id__ > 1`),
  ];
}

function partitions(index: number, kind: Table['kind'], table: string): readonly string[] {
  if (kind !== 'partitioned') return [];
  return [
    `create table t.p${index} partition of ${table} for values from (0) to (10)`,
    `create table t.d${index} partition of ${table} default`,
  ];
}

const when = (condition: boolean, statement: string): readonly string[] => (condition ? [statement] : []);

const comment = (target: string, value: string | null): readonly string[] =>
  when(value !== null, `comment on ${target} is ${literal(value ?? '')}`);

/** The SQL of a schema with tables of random columns, constraints, partitions, views and texts. */
export const schemaArbitrary: fc.Arbitrary<string> = fc
  .array(table, { minLength: 1, maxLength: 5 })
  .map((tables) =>
    [
      'create schema t',
      `create type mood as enum ('ok', 'it''s')`,
      'create domain positive as int check (value > 0)',
      'create table t.root (id int primary key)',
      `create function t.touch() returns trigger language plpgsql as 'begin return new; end'`,
      ...tables.flatMap((entry, index) =>
        tableSql(index, previousIsParent(tables, index) ? entry : { ...entry, kind: 'plain' }),
      ),
    ].join(';\n'),
  );

/** Partitioned tables have no children. */
function previousIsParent(tables: readonly Table[], index: number): boolean {
  return tables[index]!.kind !== 'child' || (index > 0 && tables[index - 1]!.kind !== 'partitioned');
}
