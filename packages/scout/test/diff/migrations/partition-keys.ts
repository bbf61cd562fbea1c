import type { Migration } from './migration.ts';

export const partitionKeys: readonly Migration[] = [
  {
    name: 'partition key: int becomes bigint',
    before: `create table p (id int primary key, note text) partition by range (id);
      create table p1 partition of p for values from (1) to (10); create table p2 partition of p default;
      create index p_note on p (note); create view v as select id from p; comment on table p is 'kept'`,
    rows: `insert into p values (1, 'a'), (11, 'b')`,
    after: `create table p (id bigint primary key, note text) partition by range (id);
      create table p1 partition of p for values from (1) to (10); create table p2 partition of p default;
      create index p_note on p (note); create view v as select id from p; comment on table p is 'kept'`,
    values: [
      `select tableoid::regclass::text as part, id::text, note from p order by id`,
      [
        { part: 'p1', id: '1', note: 'a' },
        { part: 'p2', id: '11', note: 'b' },
      ],
    ],
  },
  {
    name: 'partition key: text becomes varchar, with sub-partitions',
    before: `create table p (kind text, id int) partition by list (kind);
      create table pa partition of p for values in ('a') partition by range (id);
      create table pa1 partition of pa for values from (0) to (10);
      create table pb partition of p for values in ('b')`,
    rows: `insert into p values ('a', 1), ('b', 2)`,
    after: `create table p (kind varchar(20), id int) partition by list (kind);
      create table pa partition of p for values in ('a') partition by range (id);
      create table pa1 partition of pa for values from (0) to (10);
      create table pb partition of p for values in ('b')`,
    values: [
      'select kind, id from p order by id',
      [
        { kind: 'a', id: 1 },
        { kind: 'b', id: 2 },
      ],
    ],
  },
  {
    name: 'partition key: the column of a sub-partition',
    before: `create table p (kind text, id int) partition by list (kind);
      create table pa partition of p for values in ('a') partition by range (id);
      create table pa1 partition of pa for values from (0) to (10)`,
    rows: `insert into p values ('a', 1)`,
    after: `create table p (kind text, id bigint) partition by list (kind);
      create table pa partition of p for values in ('a') partition by range (id);
      create table pa1 partition of pa for values from (0) to (10)`,
    values: ['select kind, id::text from p', [{ kind: 'a', id: '1' }]],
  },
  {
    name: 'partition key: an enum loses a value',
    before: `create type kind as enum ('a', 'b', 'c'); create table p (kind kind, id int) partition by list (kind);
      create table pa partition of p for values in ('a'); create table pb partition of p for values in ('b')`,
    rows: `insert into p values ('a', 1), ('b', 2)`,
    after: `create type kind as enum ('a', 'b'); create table p (kind kind, id int) partition by list (kind);
      create table pa partition of p for values in ('a'); create table pb partition of p for values in ('b')`,
    values: [
      'select kind, id from p order by id',
      [
        { kind: 'a', id: 1 },
        { kind: 'b', id: 2 },
      ],
    ],
  },
  {
    name: 'partition key: an expression on a column whose type changes',
    before: `create table p (name varchar(10)) partition by list (lower(name)); create table pa partition of p for values in ('a')`,
    rows: `insert into p values ('A')`,
    after: `create table p (name text) partition by list (lower(name)); create table pa partition of p for values in ('a')`,
    values: ['select name from pa', [{ name: 'A' }]],
  },
  {
    name: 'partition key: rows that do not fit into the new type',
    before: `create table p (id bigint) partition by range (id); create table p1 partition of p for values from (1) to (10); create table rest partition of p default`,
    rows: `insert into p values (10000000000)`,
    after: `create table p (id int) partition by range (id); create table p1 partition of p for values from (1) to (10); create table rest partition of p default`,
    refusal: 'integer out of range',
  },
  {
    name: 'partition key: another key, with the same partitions',
    before: `create table p (a int, b int) partition by list (a); create table p1 partition of p for values in (1)`,
    rows: `insert into p values (1, 1)`,
    after: `create table p (a int, b int) partition by list (b); create table p1 partition of p for values in (1)`,
    values: ['select a, b from p1', [{ a: 1, b: 1 }]],
  },
  {
    name: 'partition key: another key, to which a row does not belong',
    before: `create table p (a int, b int) partition by list (a); create table p1 partition of p for values in (1)`,
    rows: `insert into p values (1, 2)`,
    after: `create table p (a int, b int) partition by list (b); create table p1 partition of p for values in (1)`,
    refusal: 'violated by some row',
  },
  {
    name: 'partition key: a partitioned table with an identity and references',
    since: 17,
    before: `create table p (id int generated always as identity primary key, note text) partition by range (id); create table p1 partition of p for values from (1) to (100);
      create table r (p int references p)`,
    rows: `insert into p (note) values ('a'), ('b'); insert into r values (2)`,
    after: `create table p (id bigint generated always as identity primary key, note text) partition by range (id); create table p1 partition of p for values from (1) to (100);
      create table r (p bigint references p)`,
    values: [`with n as (insert into p (note) values ('c') returning id) select id::text from n`, [{ id: '3' }]],
  },
];
