import { type Migration, migration } from './migration.ts';

interface Retype {
  readonly from: string;
  readonly to: string;
  /** As literals. */
  readonly values: readonly string[];
  /** As texts; undefined: the same as before. */
  readonly after?: readonly (string | null)[];
  readonly refusal?: string;
  readonly since?: number;
}

const plain: readonly Retype[] = [
  { from: 'int', to: 'bigint', values: ['1', 'null'], after: ['1', null] },
  { from: 'bigint', to: 'int', values: ['1'] },
  { from: 'bigint', to: 'integer', values: ['10000000000'], refusal: 'out of range' },
  { from: 'int', to: 'smallint', values: ['70000'], refusal: 'out of range' },
  { from: 'int', to: 'text', values: ['5'] },
  { from: 'text', to: 'int', values: [`'5'`] },
  { from: 'text', to: 'integer', values: [`'five'`], refusal: 'invalid input syntax for type integer' },
  { from: 'varchar(5)', to: 'varchar(10)', values: [`'abc'`] },
  { from: 'varchar(10)', to: 'varchar(3)', values: [`'abcdef'`], after: ['abc'] },
  { from: 'varchar(10)', to: 'text', values: [`'abc'`] },
  { from: 'varchar', to: 'text', values: [`'abc'`] },
  { from: 'text', to: 'varchar', values: [`'abc'`] },
  { from: 'text', to: 'varchar(2)', values: [`'abc'`], after: ['ab'] },
  { from: 'char(5)', to: 'varchar(5)', values: [`'abc'`] },
  { from: 'char(5)', to: 'char(8)', values: [`'abc'`] },
  { from: 'text', to: 'char(5)', values: [`'abc'`] },
  { from: 'numeric(5, 2)', to: 'numeric(8, 2)', values: ['1.25'] },
  { from: 'numeric(5, 2)', to: 'numeric', values: ['1.25'] },
  { from: 'numeric(5, 2)', to: 'numeric(6, 3)', values: ['1.25'], after: ['1.250'] },
  { from: 'numeric(5, 2)', to: 'numeric(4, 1)', values: ['1.26'], after: ['1.3'] },
  { from: 'numeric', to: 'numeric(3, 1)', values: ['1000'], refusal: 'numeric field overflow' },
  { from: 'numeric', to: 'int', values: ['1.6'], after: ['2'] },
  { from: 'int', to: 'numeric(3, 0)', values: ['1000'], refusal: 'numeric field overflow' },
  { from: 'int', to: 'numeric(12, 2)', values: ['10'], after: ['10.00'] },
  { from: 'int', to: 'double precision', values: ['3'] },
  { from: 'real', to: 'double precision', values: ['1.5'] },
  { from: 'double precision', to: 'real', values: ['1.5'] },
  { from: 'double precision', to: 'numeric', values: ['1.5'] },
  { from: 'double precision', to: 'int', values: ['2.7'], after: ['3'] },
  { from: 'money', to: 'numeric', values: [`'12.50'`], after: ['12.50'] },
  { from: 'numeric', to: 'money', values: ['12.5'], after: ['$12.50'] },
  { from: 'oid', to: 'bigint', values: ['7'] },
  { from: 'date', to: 'timestamp', values: [`'2020-02-03'`], after: ['2020-02-03 00:00:00'] },
  { from: 'timestamp', to: 'date', values: [`'2020-02-03 04:05'`], after: ['2020-02-03'] },
  { from: 'timestamp', to: 'timestamp(0)', values: [`'2020-02-03 04:05:06.7'`], after: ['2020-02-03 04:05:07'] },
  { from: 'timestamp(3)', to: 'timestamp(6)', values: [`'2020-02-03 04:05:06.7'`] },
  { from: 'timestamptz', to: 'date', values: [`'2020-02-03 12:05+00'`], after: ['2020-02-03'] },
  { from: 'time', to: 'interval', values: [`'04:05'`], after: ['04:05:00'] },
  { from: 'interval', to: 'interval day to second(0)', values: [`'1 day'`] },
  { from: 'interval', to: 'time', values: [`'1 day 2 hours'`], after: ['02:00:00'] },
  { from: 'text', to: 'date', values: [`'2020-02-03'`] },
  { from: 'text', to: 'timestamptz', values: [`'soon'`], refusal: 'invalid input syntax' },
  { from: 'text', to: 'jsonb', values: [`'{"a": 1}'`] },
  { from: 'text', to: 'json', values: [`'{'`], refusal: 'invalid input syntax for type json' },
  { from: 'json', to: 'jsonb', values: [`'{"a":1}'`], after: ['{"a": 1}'] },
  { from: 'jsonb', to: 'json', values: [`'{"a": 1}'`] },
  { from: 'jsonb', to: 'text', values: [`'{"a": 1}'`] },
  { from: 'jsonb', to: 'int', values: ['5'].map((value) => `'${value}'`) },
  { from: 'int', to: 'boolean', values: ['1', '0'], after: ['true', 'false'] },
  { from: 'boolean', to: 'int', values: ['true'], after: ['1'] },
  { from: 'boolean', to: 'text', values: ['true'] },
  { from: 'text', to: 'boolean', values: [`'yes'`], after: ['true'] },
  { from: 'smallint', to: 'boolean', values: ['2'], refusal: 'invalid input syntax for type boolean' },
  { from: 'text', to: 'uuid', values: [`'00000000-0000-0000-0000-000000000001'`] },
  { from: 'uuid', to: 'text', values: [`'00000000-0000-0000-0000-000000000001'`] },
  { from: 'int', to: 'uuid', values: ['1'], refusal: 'invalid input syntax for type uuid' },
  { from: 'text', to: 'inet', values: [`'1.2.3.4'`], after: ['1.2.3.4/32'] },
  { from: 'cidr', to: 'inet', values: [`'1.2.3.0/24'`] },
  { from: 'inet', to: 'cidr', values: [`'1.2.3.4/24'`], after: ['1.2.3.0/24'] },
  { from: 'bytea', to: 'text', values: [`'\\x01'`] },
  { from: 'text', to: 'bytea', values: [`'\\x01'`] },
  { from: 'bit(3)', to: 'bit(5)', values: [`B'101'`], after: ['10100'] },
  { from: 'bit(3)', to: 'bit varying(5)', values: [`B'101'`] },
  { from: 'bit varying(3)', to: 'bit varying(5)', values: [`B'101'`] },
  { from: 'name', to: 'text', values: [`'abc'`] },
  { from: 'text', to: 'name', values: [`'abc'`] },
  { from: '"char"', to: 'text', values: [`'a'`] },
  { from: 'xml', to: 'text', values: [`'<a/>'`] },
  { from: 'point', to: 'text', values: [`'(1,2)'`] },
  { from: 'text', to: 'tsvector', values: [`'a b'`], after: [`'a' 'b'`] },
  { from: 'int4range', to: 'int8range', values: [`'[1,5)'`] },
  { from: 'int', to: 'int[]', values: ['5'], refusal: 'malformed array literal' },
  { from: 'text', to: 'int[]', values: [`'{1,2}'`] },
  { from: 'int[]', to: 'bigint[]', values: [`'{1,2}'`] },
  { from: 'int[]', to: 'text[]', values: [`'{1,2}'`] },
  { from: 'text[]', to: 'varchar(2)[]', values: [`'{abc}'`], after: ['{ab}'] },
  { from: 'varchar(5)[]', to: 'text[]', values: [`'{abc}'`] },
  { from: 'int[]', to: 'text', values: [`'{1,2}'`] },
];

const conversions = plain.map(({ from, to, values, after, refusal, since }) => {
  const texts = after ?? values.map((value) => value.replaceAll(/^B?'|'$/g, ''));
  const rows = texts.map((value) => ({ value }));
  return migration(
    `type: ${from} becomes ${to}${refusal === undefined ? '' : ', with a value that does not fit'}`,
    [
      `create table t (id int generated always as identity, a ${from})`,
      `insert into t (a) values ${values.map((value) => `(${value})`).join(', ')}`,
      `create table t (id int generated always as identity, a ${to})`,
    ],
    {
      values: ['select a::text as value from t order by id', rows],
      ...(refusal === undefined ? {} : { refusal }),
      ...(since === undefined ? {} : { since }),
    },
  );
});

/** The column `a` is int before, and bigint afterwards. */
function used(name: string, schema: string, since?: number): Migration {
  const [before, after] = ['int', 'bigint'].map((type) => schema.replaceAll('%T', type)) as [string, string];
  return migration(`type: a column ${name}`, [before, 'insert into t (a, b) values (1, 2)', after], {
    values: ['select a::text, b from t', [{ a: '1', b: 2 }]],
    ...(since === undefined ? {} : { since }),
  });
}

const touch = `create function f() returns trigger language plpgsql as 'begin return new; end';`;

const uses: readonly Migration[] = [
  used('with a primary key', 'create table t (a %T primary key, b int)'),
  migration(
    'type: a column with references in both directions',
    [
      'create table o (a int primary key); create table t (a int primary key references o); create table r (a int references t on delete cascade)',
      'insert into o values (1); insert into t values (1); insert into r values (1)',
      'create table o (a bigint primary key); create table t (a bigint primary key references o); create table r (a bigint references t on delete cascade)',
    ],
    { values: ['select a::text from r', [{ a: '1' }]] },
  ),
  migration(
    'type: a column that refers to its own table',
    [
      'create table t (id int primary key, a int references t)',
      'insert into t values (1, null), (2, 1)',
      'create table t (id bigint primary key, a bigint references t)',
    ],
    { values: ['select a::text from t order by id', [{ a: null }, { a: '1' }]] },
  ),
  used('in an index with a condition', 'create table t (a %T, b int); create index on t (b) where a > 0'),
  used('in an expression of an index', 'create table t (a %T, b int); create unique index on t ((a + 1), b)'),
  used('in an index of several columns', 'create table t (a %T, b int); create index on t (b desc, a) include (a)'),
  used('in checks', 'create table t (a %T check (a > 0), b int, check (a < b))'),
  used('with a default', 'create table t (a %T default 1 + 1, b int)'),
  used('with an exclusion', 'create table t (a %T, b int, exclude using btree (a with =))'),
  used(
    'in views on views',
    'create table t (a %T, b int); create view v as select a, b from t; create view w as select a + 1 as c from v; grant select on w to public',
  ),
  used(
    'in a materialized view with an index',
    'create table t (a %T, b int); create materialized view m as select a from t; create unique index on m (a)',
  ),
  used(
    'in the condition of a trigger',
    `${touch} create table t (a %T, b int); create trigger x before insert on t for each row when (new.a > 5) execute function f()`,
  ),
  used(
    'of an update trigger',
    `${touch} create table t (a %T, b int); create trigger x before update of a on t for each row execute function f()`,
  ),
  used(
    'in policies',
    'create table t (a %T, b int); create policy p on t using (a > 1) with check (b > 1); create policy q on t for insert with check (a > 2)',
  ),
  used(
    'in a rule',
    'create table t (a %T, b int); create table log (a bigint); create rule r as on delete to t do also insert into log values (old.a)',
  ),
  used('in statistics', 'create table t (a %T, b int); create statistics s on a, b from t'),
  used(
    'in the condition of a publication',
    'create table t (a %T, b int); create publication p for table t (a) where (a > 1)',
    15,
  ),
  used('in statistics of an expression', 'create table t (a %T, b int); create statistics s on (a + 1) from t', 14),
  used(
    'in a function with a body of SQL',
    'create table t (a %T, b int); create function g() returns setof t begin atomic select * from t; end',
    14,
  ),
  used(
    'with an argument of its type',
    'create table t (a %T, b int); create function g(x t.a%type) returns int language sql as $$select 1$$',
  ),
  used('of a parent and its child', 'create table p (a %T); create table t (b int) inherits (p)'),
  used(
    'of a partitioned table',
    'create table t (a %T, b int) partition by list (b); create table t2 partition of t for values in (2); create index on t (a)',
  ),
  used(
    'as replica identity',
    'create table t (a %T not null, b int); create unique index u on t (a); alter table t replica identity using index u',
  ),
  used(
    'by which the table is clustered',
    'create table t (a %T, b int); create index u on t (a); alter table t cluster on u',
  ),
  used('in a generated column', 'create table t (a %T, b int, c int generated always as (b + a) stored)'),
  used(
    'with comment and privileges',
    `create table t (a %T, b int); comment on column t.a is 'kept'; grant select (a) on t to public`,
  ),
  migration(
    'type: values of a key become equal',
    [
      'create table t (a varchar(10) primary key)',
      `insert into t values ('abc1'), ('abc2')`,
      'create table t (a varchar(3) primary key)',
    ],
    { refusal: 'could not create unique index' },
  ),
  migration(
    'type: a value violates the check of the new type',
    [
      'create table t (a int)',
      'insert into t values (-1)',
      'create domain positive as int check (value > 0); create table t (a positive)',
    ],
    { refusal: 'violates check constraint' },
  ),
  migration(
    'type: the collation of an indexed column',
    [
      'create table t (a text); create index on t (a)',
      `insert into t values ('x')`,
      'create table t (a text collate "C"); create index on t (a)',
    ],
    { values: ['select a from t', [{ a: 'x' }]] },
  ),
  migration('type: the collation of a column without index', [
    'create table t (a varchar(5))',
    `insert into t values ('x')`,
    'create table t (a varchar(5) collate "C")',
  ]),
  migration(
    'type: collation and length',
    [
      'create table t (a varchar(5) unique)',
      `insert into t values ('x')`,
      'create table t (a varchar(9) collate "C" unique)',
    ],
    { values: ['select a from t', [{ a: 'x' }]] },
  ),
];

export const columnTypes: readonly Migration[] = [...conversions, ...uses];
