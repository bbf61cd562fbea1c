create type tier as enum ('bronze', 'gold');
create type address as (street text, city text);

create table customers (
  customer_id bigint primary key generated always as identity,
  name text not null,
  tier tier not null default 'bronze',
  home address,
  tags text[] not null default '{}',
  created_at timestamptz not null default now(),
  name_length int generated always as (length(name)) stored
);
comment on table customers is 'Who buys.
HTTP';

create table order_lines (
  order_id int not null,
  line int not null,
  article text not null,
  price numeric,
  primary key (order_id, line)
);
comment on table order_lines is 'HTTP
listing';

create view gold_customers as select customer_id, name from customers where tier = 'gold';
comment on view gold_customers is 'HTTP
for select';

create function find_customers(_name text) returns setof customers language sql stable as
$$ select * from customers where name like _name $$;
comment on function find_customers is 'Answers rows of the table.
HTTP';
