/**
 * A table of ten columns: keys, text that needs escaping, three types of numbers, timestamps, a document, some NULLs. `pg` parses
 * `due` and `attributes`, and leaves `reference` and `price` as strings.
 */
export function benchSchemaSql(rows: number): string {
  return `
create schema bench;

create unlogged table bench.item (
  id int primary key,
  reference bigint not null,
  name text not null,
  note text,
  price numeric(10, 2) not null,
  score double precision not null,
  active boolean not null,
  created timestamptz not null,
  due date,
  attributes jsonb not null
);

insert into bench.item
select n,
       9000000000 + n * 7919::bigint,
       'Item number ' || n,
       case when n % 7 = 0 then null else 'She said "yes", Zoë\\Łukasz: 5 € for item ' || n || E'\\nand left' end,
       (n * 37 % 1000000)::numeric / 100,
       sqrt(n),
       n % 3 = 0,
       timestamptz '2024-01-01 00:00:00+00' + n * interval '1 minute' + n % 1000 * interval '1 millisecond',
       case when n % 11 = 0 then null else date '2024-01-01' + n % 3650 end,
       jsonb_build_object('color', (array['red', 'green', 'blue'])[n % 3 + 1], 'size', n % 40, 'tags', jsonb_build_array('a', n % 5))
from generate_series(1, ${rows}) n;

analyze bench.item;

create unlogged table bench.hundred_items (like bench.item including all);
insert into bench.hundred_items select * from bench.item order by id limit 100;
analyze bench.hundred_items;

create function bench.add(a int, b int) returns int
language sql immutable parallel safe
as $$ select a + b $$;
comment on function bench.add(int, int) is 'HTTP GET';

create function bench.items(lim int) returns setof bench.item
language sql stable parallel safe
as $$ select * from bench.item order by id limit lim $$;
comment on function bench.items(int) is 'HTTP GET';
`;
}
