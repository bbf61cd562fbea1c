import { type Migration, migration } from './migration.ts';

const rows = 'insert into t values (1, 10, 100), (2, 20, 200)';
const table = (...more: readonly string[]): string =>
  `create table t (${['a int', 'b int', 'c int', ...more].join(', ')})`;

const checks: readonly Migration[] = [
  migration('check: comes', [table(), rows, table('check (b > a)')]),
  migration('check: comes, which a row violates', [table(), rows, table('check (b < a)')], {
    refusal: 'is violated by some row',
  }),
  migration('check: goes', [table('check (b > a)'), rows, table()]),
  migration('check: another expression', [
    table('constraint k check (b > a)'),
    rows,
    table('constraint k check (c > b)'),
  ]),
  migration('check: not valid', [table(), rows, `${table()}; alter table t add constraint k check (b < a) not valid`]),
  migration('check: is validated', [
    `${table()}; alter table t add constraint k check (b > a) not valid`,
    rows,
    table('constraint k check (b > a)'),
  ]),
  migration(
    'check: is validated, which a row violates',
    [
      `${table()}; ${rows}; alter table t add constraint k check (b < a) not valid`,
      '',
      table('constraint k check (b < a)'),
    ],
    { refusal: 'is violated by some row' },
  ),
  migration('check: no inherit', [
    table('constraint k check (b > a)'),
    rows,
    table('constraint k check (b > a) no inherit'),
  ]),
  migration(
    'check: not enforced',
    [table('constraint k check (b > a)'), rows, table('constraint k check (b > a) not enforced')],
    { since: 18 },
  ),
  migration('check: with a new function', [
    table(),
    rows,
    `create function f(int) returns boolean language sql immutable as 'select $1 > 0'; ${table('check (f(a))')}`,
  ]),
  migration('check: its function changes', [
    `create function f(int) returns boolean language sql immutable as 'select $1 > 0'; ${table('check (f(a))')}`,
    rows,
    `create function f(int) returns boolean language sql immutable as 'select $1 > 1'; ${table('check (f(a))')}`,
  ]),
  migration('check: the result of its function changes', [
    `create function f(int) returns int language sql immutable as 'select $1'; ${table('check (f(a) > 0)')}`,
    rows,
    `create function f(int) returns bigint language sql immutable as 'select $1::bigint'; ${table('check (f(a) > 0)')}`,
  ]),
  migration('check: of a parent', [
    'create table p (a int); create table t (b int) inherits (p)',
    'insert into t values (1, 2)',
    'create table p (a int check (a > 0)); create table t (b int) inherits (p)',
  ]),
  migration(
    'check: of a parent, which a row of a child violates',
    [
      'create table p (a int); create table t (b int) inherits (p)',
      'insert into t values (-1, 2)',
      'create table p (a int check (a > 0)); create table t (b int) inherits (p)',
    ],
    { refusal: 'of relation "t" is violated' },
  ),
];

const keys: readonly Migration[] = [
  migration('primary key: comes', [table(), rows, table('primary key (a)')]),
  migration(
    'primary key: comes, with a null',
    [table(), 'insert into t values (null, 1, 2)', table('primary key (a)')],
    { refusal: 'contains null values' },
  ),
  migration(
    'primary key: comes, with equal rows',
    [table(), 'insert into t values (1, 1, 2), (1, 3, 4)', table('primary key (a)')],
    { refusal: 'could not create unique index' },
  ),
  migration('primary key: goes', [table('primary key (a)'), rows, table()]),
  migration('primary key: other columns', [table('primary key (a)'), rows, table('primary key (a, b)')]),
  migration('primary key: another name', [
    table('constraint k primary key (a)'),
    rows,
    table('constraint other primary key (a)'),
  ]),
  migration('primary key: other columns, with references', [
    `${table('primary key (a)', 'unique (b)')}; create table r (t int references t (a))`,
    `${rows}; insert into r values (1)`,
    `${table('unique (a)', 'primary key (b)')}; create table r (t int references t (a))`,
  ]),
  migration('unique: comes', [table(), rows, table('unique (a, b)')]),
  migration(
    'unique: comes, with equal rows',
    [table(), 'insert into t values (1, 1, 2), (1, 3, 4)', table('unique (a)')],
    { refusal: 'could not create unique index' },
  ),
  migration('unique: deferrable', [
    table('constraint k unique (a)'),
    rows,
    table('constraint k unique (a) deferrable initially deferred'),
  ]),
  migration(
    'unique: nulls not distinct',
    [table('constraint k unique (a)'), rows, table('constraint k unique nulls not distinct (a)')],
    { since: 15 },
  ),
  migration('unique: included columns', [
    table('constraint k unique (a)'),
    rows,
    table('constraint k unique (a) include (b)'),
  ]),
  migration('unique: storage', [
    table('constraint k unique (a)'),
    rows,
    table('constraint k unique (a) with (fillfactor = 60)'),
  ]),
  migration('unique: an index becomes a constraint', [
    `${table()}; create unique index k on t (a)`,
    rows,
    table('constraint k unique (a)'),
  ]),
  migration('exclusion: comes', [
    table(),
    'insert into t values (1, 2, 0), (2, 3, 0)',
    table('exclude using gist (int4range(a, b) with &&)'),
  ]),
  migration(
    'exclusion: comes, with rows that overlap',
    [table(), 'insert into t values (1, 5, 0), (2, 6, 0)', table('exclude using gist (int4range(a, b) with &&)')],
    { refusal: 'could not create exclusion constraint' },
  ),
  migration('exclusion: goes', [
    table('exclude using gist (int4range(a, b) with &&)'),
    'insert into t values (1, 5, 0)',
    table(),
  ]),
  migration(
    'temporal key',
    [
      'create extension btree_gist; create table t (a int, d daterange)',
      `insert into t values (1, '[2020-01-01,2021-01-01)')`,
      'create extension btree_gist; create table t (a int, d daterange, primary key (a, d without overlaps))',
    ],
    { since: 18 },
  ),
];

const two = (reference: string): string =>
  `create table o (id int primary key, code int unique); create table t (a int${reference})`;
const twoRows = 'insert into o values (1, 5); insert into t values (1)';

const references: readonly Migration[] = [
  migration('foreign key: comes', [two(''), twoRows, two(' references o')]),
  migration(
    'foreign key: comes, with a row without its target',
    [two(''), 'insert into t values (9)', two(' references o')],
    { refusal: 'violates foreign key constraint' },
  ),
  migration('foreign key: goes', [two(' references o'), twoRows, two('')]),
  migration('foreign key: actions', [
    two(' references o'),
    twoRows,
    two(' references o on delete cascade on update set null'),
  ]),
  migration('foreign key: deferrable', [
    two(' references o'),
    twoRows,
    two(' references o deferrable initially deferred'),
  ]),
  migration('foreign key: another column', [
    two(' references o (id)'),
    'insert into o values (1, 1); insert into t values (1)',
    two(' references o (code)'),
  ]),
  migration('foreign key: not valid', [
    two(''),
    'insert into t values (9)',
    `${two('')}; alter table t add foreign key (a) references o not valid`,
  ]),
  migration('foreign key: is validated', [
    `${two('')}; alter table t add foreign key (a) references o not valid`,
    twoRows,
    two(' references o'),
  ]),
  migration(
    'foreign key: is validated, with a row without its target',
    [
      two(''),
      'insert into t values (9); alter table t add constraint t_a_fkey foreign key (a) references o not valid',
      two(' references o'),
    ],
    { refusal: 'violates foreign key constraint' },
  ),
  migration('foreign key: not enforced', [two(' references o'), twoRows, two(' references o not enforced')], {
    since: 18,
  }),
  migration(
    'foreign key: columns to set',
    [
      'create table o (a int, b int, primary key (a, b)); create table t (a int, b int, constraint k foreign key (a, b) references o on delete set null)',
      'insert into o values (1, 2); insert into t values (1, 2)',
      'create table o (a int, b int, primary key (a, b)); create table t (a int, b int, constraint k foreign key (a, b) references o on delete set null (b))',
    ],
    { since: 15 },
  ),
  migration('foreign key: to a partitioned table', [
    'create table o (id int primary key) partition by range (id); create table o1 partition of o default; create table t (a int)',
    'insert into o values (1); insert into t values (1)',
    'create table o (id int primary key) partition by range (id); create table o1 partition of o default; create table t (a int references o)',
  ]),
  migration('foreign key: of a partitioned table', [
    'create table o (id int primary key); create table t (a int) partition by range (a); create table t1 partition of t default',
    'insert into o values (1); insert into t values (1)',
    'create table o (id int primary key); create table t (a int references o) partition by range (a); create table t1 partition of t default',
  ]),
  migration('foreign key: two tables that refer to each other', [
    'create table o (id int primary key, t int); create table t (id int primary key, o int)',
    'insert into o values (1, 1); insert into t values (1, 1)',
    'create table o (id int primary key, t int); create table t (id int primary key, o int references o); alter table o add foreign key (t) references t',
  ]),
  migration(
    'foreign key: temporal',
    [
      'create extension btree_gist; create table o (a int, d daterange, primary key (a, d without overlaps)); create table t (a int, d daterange)',
      '',
      'create extension btree_gist; create table o (a int, d daterange, primary key (a, d without overlaps)); create table t (a int, d daterange, foreign key (a, period d) references o)',
    ],
    { since: 18 },
  ),
];

const indexed = (...indexes: readonly string[]): string => [table(), ...indexes].join('; ');

const indexes: readonly Migration[] = [
  migration('index: comes', [table(), rows, indexed('create index i on t (a)')]),
  migration('index: goes', [indexed('create index i on t (a)'), rows, table()]),
  migration('index: unique comes', [table(), rows, indexed('create unique index i on t (a)')]),
  migration(
    'index: unique comes, with equal rows',
    [table(), 'insert into t values (1, 1, 1), (1, 1, 1)', indexed('create unique index i on t (a)')],
    { refusal: 'could not create unique index' },
  ),
  migration('index: becomes unique', [
    indexed('create index i on t (a)'),
    rows,
    indexed('create unique index i on t (a)'),
  ]),
  migration('index: other columns and orders', [
    indexed('create index i on t (a)'),
    rows,
    indexed('create index i on t (a desc nulls last, b)'),
  ]),
  migration('index: another method', [
    indexed('create index i on t (a)'),
    rows,
    indexed('create index i on t using brin (a)'),
  ]),
  migration('index: a condition', [
    indexed('create index i on t (a)'),
    rows,
    indexed('create index i on t (a) where b > 0'),
  ]),
  migration('index: an expression', [
    indexed('create index i on t (a)'),
    rows,
    indexed('create index i on t ((a + b))'),
  ]),
  migration(
    'index: an expression that fails on a row',
    [table(), 'insert into t values (0, 1, 1)', indexed('create index i on t ((1 / a))')],
    { refusal: 'division by zero' },
  ),
  migration('index: storage', [
    indexed('create index i on t (a)'),
    rows,
    indexed('create index i on t (a) with (fillfactor = 50)'),
  ]),
  migration('index: statistics of an expression', [
    indexed('create index i on t ((a + b))'),
    rows,
    indexed('create index i on t ((a + b))', 'alter index i alter column 1 set statistics 500'),
  ]),
  migration('index: of a partitioned table', [
    'create table t (a int) partition by range (a); create table t1 partition of t default',
    'insert into t values (1)',
    'create table t (a int) partition by range (a); create table t1 partition of t default; create index i on t (a)',
  ]),
  migration('index: of a partition only', [
    'create table t (a int) partition by range (a); create table t1 partition of t default',
    'insert into t values (1)',
    'create table t (a int) partition by range (a); create table t1 partition of t default; create index i on t1 (a)',
  ]),
  migration('index: unique of a partitioned table becomes a key', [
    'create table t (a int) partition by range (a); create table t1 partition of t default; create unique index i on t (a)',
    'insert into t values (1)',
    'create table t (a int primary key) partition by range (a); create table t1 partition of t default',
  ]),
  migration('index: of a materialized view', [
    'create materialized view m as select 1 as a',
    '',
    'create materialized view m as select 1 as a; create unique index i on m (a)',
  ]),
  migration('index: clustered by another', [
    indexed('create index i on t (a)', 'create index j on t (b)', 'alter table t cluster on i'),
    rows,
    indexed('create index i on t (a)', 'create index j on t (b)', 'alter table t cluster on j'),
  ]),
  migration('statistics: other kinds and columns', [
    indexed('create statistics s on a, b from t'),
    rows,
    indexed('create statistics s (mcv) on a, c from t', 'alter statistics s set statistics 9'),
  ]),
];

export const constraints: readonly Migration[] = [...checks, ...keys, ...references, ...indexes];
