import { type Migration, migration } from './migration.ts';

const part = 'create table p (id int, k int) partition by range (id)';

const tables: readonly Migration[] = [
  migration('table: comes and goes', [
    'create table old (a int)',
    'insert into old values (1)',
    'create table fresh (a int primary key, b text)',
  ]),
  migration('table: unlogged becomes logged', [
    'create unlogged table t (a int)',
    'insert into t values (1)',
    'create table t (a int)',
  ]),
  migration('table: with references become unlogged', [
    'create table a (id int primary key); create table b (a int references a)',
    'insert into a values (1); insert into b values (1)',
    'create unlogged table a (id int primary key); create unlogged table b (a int references a)',
  ]),
  migration('table: storage parameters', [
    'create table t (a text) with (fillfactor = 70)',
    `insert into t values ('x')`,
    'create table t (a text) with (autovacuum_enabled = false, toast.autovacuum_enabled = false)',
  ]),
  migration(
    'table: access method',
    [
      'create access method heap2 type table handler heap_tableam_handler; create table t (a int)',
      'insert into t values (1)',
      'create access method heap2 type table handler heap_tableam_handler; create table t (a int) using heap2',
    ],
    { since: 15 },
  ),
  migration('table: row level security', [
    'create table t (a int)',
    'insert into t values (1)',
    'create table t (a int); alter table t enable row level security, force row level security; create policy p on t using (a > 0)',
  ]),
  migration('table: replica identity', [
    'create table t (a int primary key)',
    'insert into t values (1)',
    'create table t (a int primary key); alter table t replica identity full',
  ]),
  migration('table: a type of its own', [
    'create type c as (a int, b text); create table t (a int, b text)',
    `insert into t values (1, 'x')`,
    'create type c as (a int, b text); create table t of c',
  ]),
  migration('table: no type any more', [
    'create type c as (a int, b text); create table t of c',
    `insert into t values (1, 'x')`,
    'create type c as (a int, b text); create table t (a int, b text)',
  ]),
  migration('table: an attribute of its type comes', [
    'create type c as (a int); create table t of c',
    'insert into t values (1)',
    'create type c as (a int, b text); create table t of c',
  ]),
  migration('table: a parent comes', [
    'create table p (a int, check (a > 0)); create table t (a int, b int, check (a > 0))',
    'insert into t values (1, 2)',
    'create table p (a int, check (a > 0)); create table t (b int) inherits (p)',
  ]),
  migration('table: a parent goes', [
    'create table p (a int not null); create table t (b int) inherits (p)',
    'insert into t values (1, 2)',
    'create table p (a int not null); create table t (a int not null, b int)',
  ]),
  migration('table: another parent', [
    'create table p (a int); create table q (a int, c int); create table t (b int) inherits (p)',
    'insert into t values (1, 2)',
    'create table p (a int); create table q (a int, c int); create table t (b int) inherits (q)',
  ]),
  migration(
    'table: a parent gets a column',
    [
      'create table p (a int); create table t (b int) inherits (p)',
      'insert into t values (1, 2)',
      'create table p (a int, c int default 4); create table t (b int) inherits (p)',
    ],
    { values: ['select c from t', [{ c: 4 }]] },
  ),
  migration('table: a parent loses a column', [
    'create table p (a int, c int); create table t (b int) inherits (p)',
    'insert into t values (1, 2, 3)',
    'create table p (a int); create table t (b int) inherits (p)',
  ]),
  migration('table: becomes a view', [
    'create table t (a int)',
    'insert into t values (1)',
    'create table u (a int); create view t as select a from u',
  ]),
  migration('table: another schema', [
    'create schema s; create table t (a int)',
    'insert into t values (1)',
    'create schema s; create table s.t (a int)',
  ]),
  migration('table: comes with all that it needs', [
    'select 1',
    '',
    `create type mood as enum ('ok'); create domain d as int; create sequence q; create function f() returns int language sql as 'select 1'; create table o (id int primary key); create table t (id int default nextval('q') primary key, m mood, d d, o int references o, n int default f() check (n > 0)); create view v as select * from t; create index on t (n)`,
  ]),
  migration('table: foreign options', [
    "create foreign data wrapper w; create server s foreign data wrapper w; create foreign table t (a int) server s options (path '/a')",
    '',
    `create foreign data wrapper w; create server s foreign data wrapper w options (host 'b'); create foreign table t (a bigint, b text not null) server s options (file '/b')`,
  ]),
];

const partitions: readonly Migration[] = [
  migration('partition: comes', [
    `${part}; create table p1 partition of p for values from (0) to (10)`,
    'insert into p values (1)',
    `${part}; create table p1 partition of p for values from (0) to (10); create table p2 partition of p for values from (10) to (20)`,
  ]),
  migration('partition: comes beside a default partition', [
    `${part}; create table rest partition of p default`,
    'insert into p values (1)',
    `${part}; create table rest partition of p default; create table p2 partition of p for values from (10) to (20)`,
  ]),
  migration(
    'partition: comes, and the default partition has its rows',
    [
      `${part}; create table rest partition of p default`,
      'insert into p values (15)',
      `${part}; create table rest partition of p default; create table p2 partition of p for values from (10) to (20)`,
    ],
    { refusal: 'would be violated by some row' },
  ),
  migration('partition: goes', [
    `${part}; create table p1 partition of p for values from (0) to (10)`,
    'insert into p values (1)',
    part,
  ]),
  migration(
    'partition: is detached',
    [
      `${part}; create table p1 partition of p for values from (0) to (10)`,
      'insert into p values (1)',
      `${part}; create table p1 (id int, k int)`,
    ],
    { values: ['select id from p1', [{ id: 1 }]] },
  ),
  migration(
    'partition: a table is attached',
    [
      `${part}; create table p1 (id int, k int)`,
      'insert into p1 values (1)',
      `${part}; create table p1 partition of p for values from (0) to (10)`,
    ],
    { values: ['select id from p', [{ id: 1 }]] },
  ),
  migration(
    'partition: a table with other rows is attached',
    [
      `${part}; create table p1 (id int, k int)`,
      'insert into p1 values (100)',
      `${part}; create table p1 partition of p for values from (0) to (10)`,
    ],
    { refusal: 'violated by some row' },
  ),
  migration(
    'partition: other bounds',
    [
      `${part}; create table p1 partition of p for values from (0) to (10)`,
      'insert into p values (1)',
      `${part}; create table p1 partition of p for values from (0) to (20)`,
    ],
    { values: ['select id from p', [{ id: 1 }]] },
  ),
  migration(
    'partition: bounds without a row',
    [
      `${part}; create table p1 partition of p for values from (0) to (10)`,
      'insert into p values (1)',
      `${part}; create table p1 partition of p for values from (5) to (20)`,
    ],
    { refusal: 'violated by some row' },
  ),
  migration(
    'partition: another method',
    [
      'create table p (id int) partition by range (id); create table p1 partition of p for values from (1) to (2)',
      'insert into p values (1)',
      'create table p (id int) partition by list (id); create table p1 partition of p for values in (1)',
    ],
    { values: ['select id from p', [{ id: 1 }]] },
  ),
  migration('partition: a plain table becomes partitioned', [
    'create table p (id int)',
    '',
    `create table p (id int) partition by range (id); create table p1 partition of p default`,
  ]),
  migration(
    'partition: a column comes and one goes',
    [
      `${part}; create table p1 partition of p default`,
      'insert into p values (1, 2)',
      'create table p (id int, c text default $$x$$ not null) partition by range (id); create table p1 partition of p default',
    ],
    { values: ['select id, c from p', [{ id: 1, c: 'x' }]] },
  ),
  migration('partition: sub-partitions', [
    `${part}; create table p1 partition of p for values from (0) to (10)`,
    '',
    `${part}; create table p1 partition of p for values from (0) to (10) partition by list (k); create table p1a partition of p1 default`,
  ]),
  migration('partition: a key and a trigger', [
    `${part}; create table p1 partition of p default; create function f() returns trigger language plpgsql as 'begin return new; end'`,
    'insert into p values (1, 2)',
    `create table p (id int primary key, k int) partition by range (id); create table p1 partition of p default; create function f() returns trigger language plpgsql as 'begin return new; end'; create trigger tr before insert on p for each row execute function f()`,
  ]),
];

const keyed = 'create table p (id int primary key) partition by range (id); create table p2 partition of p default';
const referring = 'create table r (p int references p)';

const referenced: readonly Migration[] = [
  migration(
    'partition: is detached, and rows refer to it',
    [
      `${keyed}; create table p1 partition of p for values from (0) to (10); ${referring}`,
      'insert into p values (1); insert into r values (1)',
      `${keyed}; create table p1 (id int primary key); ${referring}`,
    ],
    { refusal: 'violates foreign key constraint' },
  ),
  migration('partition: is detached, and references to others stay', [
    `${keyed}; create table p1 partition of p for values from (0) to (10); ${referring}`,
    'insert into p values (1), (11); insert into r values (11)',
    `${keyed}; create table p1 (id int primary key); ${referring}`,
  ]),
  migration('partition: goes, and references to others stay', [
    `${keyed}; create table p1 partition of p for values from (0) to (10); ${referring}`,
    'insert into p values (1), (11); insert into r values (11)',
    `${keyed}; ${referring}`,
  ]),
  migration(
    'partition: goes, and rows refer to it',
    [
      `${keyed}; create table p1 partition of p for values from (0) to (10); ${referring}`,
      'insert into p values (1); insert into r values (1)',
      `${keyed}; ${referring}`,
    ],
    { refusal: 'violates foreign key constraint' },
  ),
];

export const tablesAndPartitions: readonly Migration[] = [...tables, ...partitions, ...referenced];
