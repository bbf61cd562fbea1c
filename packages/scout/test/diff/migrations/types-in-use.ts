import type { Migration } from './migration.ts';

export const typesInUse: readonly Migration[] = [
  {
    name: 'domain: a check, with columns that are arrays of it',
    before: `create domain d as int; create table t (a d, b d[], c d[][])`,
    rows: `insert into t values (1, '{1,2}', '{{1},{2}}')`,
    after: `create domain d as int check (value > 0); create table t (a d, b d[], c d[][])`,
    values: ['select a, b::int[] as b from t', [{ a: 1, b: [1, 2] }]],
  },
  {
    name: 'domain: a check that a value of an array violates',
    before: `create domain d as int; create table t (b d[])`,
    rows: `insert into t values ('{1,-2}')`,
    after: `create domain d as int check (value > 0); create table t (b d[])`,
    refusal: 'violates check constraint',
  },
  {
    name: 'domain: not null, with a column of a composite type that has it',
    before: `create domain d as text; create type c as (x d, y int); create table t (c c)`,
    rows: `insert into t values (('a', 1))`,
    after: `create domain d as text not null; create type c as (x d, y int); create table t (c c)`,
    values: ['select (c).x, (c).y from t', [{ x: 'a', y: 1 }]],
  },
  {
    name: 'domain: a check, with a range of it in a column',
    since: 14,
    before: `create domain d as int; create type r as range (subtype = d); create table t (r r)`,
    rows: `insert into t values ('[1,5)')`,
    after: `create domain d as int check (value > 0); create type r as range (subtype = d); create table t (r r)`,
    values: ['select upper(r)::int as upper from t', [{ upper: 5 }]],
  },
  {
    name: 'domain: a check is removed and a default is set, with arrays of it',
    before: `create domain d as int constraint positive check (value > 0); create table t (b d[])`,
    rows: `insert into t values ('{1}')`,
    after: `create domain d as int default 3; create table t (b d[])`,
  },
  {
    name: 'domain: another base, with arrays of it',
    before: `create domain d as int check (value > 0); create table t (a d, b d[])`,
    rows: `insert into t values (1, '{2}')`,
    after: `create domain d as bigint check (value > 0); create table t (a d, b d[])`,
    values: ['select a::text, b::text from t', [{ a: '1', b: '{2}' }]],
  },
  {
    name: 'composite type: an attribute gets another type, others come and go',
    before: `create type c as (a int, gone text, b text); create table t (c c, id int primary key)`,
    rows: `insert into t values ((1, 'g', 'it''s, "x"'), 1), (null, 2)`,
    after: `create type c as (a bigint, b text, more date); create table t (c c, id int primary key)`,
    values: [
      'select (c).a::text, (c).b, (c).more from t order by id',
      [
        { a: '1', b: `it's, "x"`, more: null },
        { a: null, b: null, more: null },
      ],
    ],
  },
  {
    name: 'composite type: an attribute gets another type, with arrays of it',
    before: `create type c as (a int, b text); create table t (c c[])`,
    rows: `insert into t values (array[(1, 'x')::c, null])`,
    after: `create type c as (a bigint, b text); create table t (c c[])`,
    values: ['select (c)[1].b from t', [{ b: 'x' }]],
  },
  {
    name: 'composite type: an attribute gets another type and one comes, with arrays of it',
    before: `create type c as (a int, b text); create table t (c c[])`,
    rows: `insert into t values (array[(1, 'x')::c, null])`,
    after: `create type c as (a bigint, b text, d int); create table t (c c[])`,
    values: ['select (c)[1].b from t', [{ b: 'x' }]],
  },
  {
    name: 'composite type: in a composite type in a column',
    before: `create type i as (a int); create type o as (i i, n int); create table t (o o)`,
    rows: `insert into t values (row(row(1), 2))`,
    after: `create type i as (a text, b int); create type o as (i i, n int); create table t (o o)`,
    values: ['select ((o).i).a, (o).n from t', [{ a: '1', n: 2 }]],
  },
  {
    name: 'typed table: an attribute gets another type',
    before: `create type c as (a int, b text); create table t of c (primary key (a)); create view v as select a from t`,
    rows: `insert into t values (1, 'x')`,
    after: `create type c as (a bigint, b varchar(10)); create table t of c (primary key (a)); create view v as select a from t`,
    values: ['select a::text, b from t', [{ a: '1', b: 'x' }]],
  },
  {
    name: 'typed table: another type, with the columns in another order',
    before: `create type c as (a int, b text); create type d as (b text, a int); create table t of c`,
    rows: `insert into t values (1, 'x')`,
    after: `create type c as (a int, b text); create type d as (b text, a int); create table t of d`,
    refusal: 'table has column "a" where type requires "b"',
  },
  {
    name: 'row type: a composite type of another column has it',
    before: `create table t (a int, b text); create type c as (t t, n int); create table u (c c)`,
    rows: `insert into t values (1, 'x'); insert into u select row(t, 5)::c from t`,
    after: `create table t (a bigint, b text, d int default 3); create type c as (t t, n int); create table u (c c)`,
    values: ['select ((c).t).a::text, ((c).t).d, (c).n from u', [{ a: '1', d: null, n: 5 }]],
  },
  {
    name: 'row type: tables in columns of tables in columns of tables',
    before: 'create table p (a int); create table q (p p, n int); create table r (q q, n int)',
    rows: 'insert into p values (1); insert into q select p, 2 from p; insert into r select q, 3 from q',
    after: 'create table p (a bigint); create table q (p p, n bigint); create table r (q q, n bigint)',
    values: ['select ((q).p).a::text, (q).n::text, n::text as m from r', [{ a: '1', n: '2', m: '3' }]],
  },
  {
    name: 'row type: names that need quotes',
    before: `create schema "it's"; create table "it's"."a""b[]" ("c'd\\" int, "E f" text); create type "it's"."T." as ("x y" int); create table u ("G;" "it's"."a""b[]", h "it's"."a""b[]"[], i "it's"."T."[])`,
    rows: `insert into "it's"."a""b[]" values (1, 'x'); insert into u select t, array[t], array[row(5)::"it's"."T."] from "it's"."a""b[]" t`,
    after: `create schema "it's"; create table "it's"."a""b[]" ("c'd\\" bigint, "E f" text, "new'" int default 1); create type "it's"."T." as ("x y" bigint, "z""" int); create table u ("G;" "it's"."a""b[]", h "it's"."a""b[]"[], i "it's"."T."[])`,
    values: [
      `select ("G;")."E f" as a, (h)[1]."E f" as b, (i)[1]."x y"::text as c from u`,
      [{ a: 'x', b: 'x', c: '5' }],
    ],
  },
  {
    name: 'row type: the column becomes json',
    before: `create table t (a int, b text); create table u (t t)`,
    rows: `insert into t values (1, 'x'); insert into u select t from t`,
    after: `create table t (a bigint, b text); create table u (t text)`,
    values: ['select t from u', [{ t: '(1,x)' }]],
  },
  {
    name: 'row type: in partitions, and of a partition',
    before: `create table t (a int, b text) partition by list (b); create table t1 partition of t for values in ('x'); create table u (id int, t t1) partition by range (id); create table u1 partition of u default`,
    rows: `insert into t values (1, 'x'); insert into u select 1, t1 from t1`,
    after: `create table t (a bigint, b text) partition by list (b); create table t1 partition of t for values in ('x'); create table u (id int, t t1) partition by range (id); create table u1 partition of u default`,
    values: ['select (t).a::text from u', [{ a: '1' }]],
  },
  {
    name: 'row type: a column of another table has it, and a column gets another type',
    before: `create table t (a int, b text); create table u (t t, id int); create view v as select (t).a from u`,
    rows: `insert into t values (1, 'x'); insert into u select t, 1 from t`,
    after: `create table t (a bigint, b text, c int); create table u (t t, id int); create view v as select (t).a from u`,
    values: ['select (t).a::text, (t).b, (t).c from u', [{ a: '1', b: 'x', c: null }]],
  },
  {
    name: 'row type: a column of another table has it, and a column with a default comes',
    before: `create table t (a int); create table u (t t)`,
    rows: `insert into t values (1); insert into u select t from t`,
    after: `create table t (a int, b int default 5 not null, c timestamptz default clock_timestamp()); create table u (t t)`,
    values: [
      'select (t).a, (t).b from u union all select a, b from t',
      [
        { a: 1, b: null },
        { a: 1, b: 5 },
      ],
    ],
  },
  {
    name: 'row type: arrays of it in a column',
    before: `create table t (a int, b text); create table u (t t[])`,
    rows: `insert into t values (1, 'x'); insert into u select array[t] from t`,
    after: `create table t (a bigint, b text); create table u (t t[])`,
    values: ['select (t)[1].b from u', [{ b: 'x' }]],
  },
  {
    name: 'row type: the table becomes logged',
    before: `create unlogged table t (a int, b text); create table u (t t)`,
    rows: `insert into t values (1, 'x'); insert into u select t from t`,
    after: `create table t (a int, b text); create table u (t t)`,
    values: ['select (t).b from u', [{ b: 'x' }]],
  },
  {
    name: 'row type: a stored generated column comes and a column goes',
    before: `create table t (a int, b text); create table u (t t)`,
    rows: `insert into t values (1, 'x'); insert into u select t from t`,
    after: `create table t (a int, c int generated always as (a * 2) stored); create table u (t t)`,
    values: ['select (t).a, (t).c from u', [{ a: 1, c: null }]],
  },
];

const baseFunctions = (type: string): string => `create type ${type};
  create function ${type}_in(cstring) returns ${type} language internal immutable strict as 'int4in';
  create function ${type}_out(${type}) returns cstring language internal immutable strict as 'int4out';
  create function ${type}_send(${type}) returns bytea language internal immutable strict as 'int4send'`;
const baseType = (options: string): string =>
  `${baseFunctions('b')}; create type b (input = b_in, output = b_out, internallength = 4, passedbyvalue, alignment = int4${options})`;

export const baseTypes: readonly Migration[] = [
  {
    name: 'base type: a function that sends it, with columns of it',
    before: `${baseType('')}; create table t (b b)`,
    rows: `insert into t values ('5')`,
    after: `${baseType(', send = b_send')}; create table t (b b)`,
    values: ['select b::text from t', [{ b: '5' }]],
  },
  {
    name: 'base type: another category and default, with columns of it',
    before: `${baseType('')}; create table t (b b)`,
    rows: `insert into t values ('5')`,
    after: `${baseType(`, category = 'N', default = '3'`)}; create table t (b b)`,
    values: ['select b::text from t', [{ b: '5' }]],
  },
  {
    name: 'base type: another category, with arrays and records of it',
    before: `${baseType('')}; create type c as (b b, n int); create table t (b b[], c c); create view v as select b from t; create function f(b) returns b language sql as 'select $1'`,
    rows: `insert into t values ('{5,6}', ('7', 8))`,
    after: `${baseType(`, category = 'N'`)}; create type c as (b b, n int); create table t (b b[], c c); create view v as select b from t; create function f(b) returns b language sql as 'select $1'`,
    values: ['select b::text, c::text from t', [{ b: '{5,6}', c: '(7,8)' }]],
  },
  {
    name: 'base type: the column gets another type, and the type goes',
    before: `${baseType('')}; create table t (b b)`,
    rows: `insert into t values ('5')`,
    after: `create table t (b int)`,
    values: ['select b from t', [{ b: 5 }]],
  },
  {
    name: 'base type: another category, without columns of it',
    before: baseType(''),
    after: baseType(`, category = 'N'`),
  },
];
