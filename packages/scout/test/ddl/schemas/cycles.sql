-- Objects that depend on each other: SQL bodies exist since PostgreSQL 14.
create table film (id int primary key, price numeric);
create function highest() returns numeric begin atomic select max(price) from film; end;
alter table film alter column price set default highest(), add constraint below check (price <= highest());
create view films as select id, price from film;
create function all_films() returns setof films begin atomic select * from films; end;
create or replace view films as select id, price from film where id in (select count(*) from all_films());
create view grouped as select film.*, count(*) from film group by id;
create domain positive as int;
create function is_positive(positive) returns boolean language sql immutable return $1 > 0;
alter domain positive add check (is_positive(value));
create function next_number() returns int language sql return 1;
create table numbers (n int default next_number());
