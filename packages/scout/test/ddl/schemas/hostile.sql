-- Names and texts that break careless quoting, and cycles of dependencies.
create schema "it's a \schema";
create schema "select";
create table "select"."order" ("group" int, "Ünïcode ☃" text default 'o''hara\', "a""b" text, constraint "check" check ("group" > 0), primary key ("group"));
create table "it's a \schema"."tab	le
;drop" ("$$" int references "select"."order", "--" text default E'--\n/* ''; drop table x; */ $$ \\', unique ("--", "$$"));
create index "in""dex" on "it's a \schema"."tab	le
;drop" (("--" || '\'));
comment on table "select"."order" is E'\u001b[31mred\u001b[0m \\ ''quoted'' $$ \u202e';
comment on column "select"."order"."a""b" is 'it''s';
create type "select"."enum" as enum ('a''b', 'c\d', E'\u001b[2J', '');
create table "select".escape (e "select"."enum" default E'\u001b[2J');
create domain "select"."do main" as text check (value <> E'\u001b''\\');
do $do$ begin execute format('create function "select"."f()"("a b" int default 1, "out" text default %L) returns text language plpgsql as %L', E'\u001b''\\', E'begin -- \u001b[31m $function$ $$\r\n return ''x\\''; end'); end $do$;
do $do$ begin execute format('create view "select".%I as select 1 as %I, %L::text as "select"', E'v\u001b[31m', E'c\u001b"\\', E'\u001b\\'); end $do$;
comment on function "select"."f()"(int, text) is '$$ \';
create function "select".trigger() returns trigger language plpgsql as 'begin return null; end';
create trigger "before" before insert on "select"."order" for each row execute function "select".trigger('a''b', E'\\', E'\u001b');
create policy "to" on "select"."order" using ("a""b" <> E'\u001b\\');
create sequence "select"."se;q" owned by "select"."order"."group";
create sequence "select".down increment -1 minvalue -10 start -5 cache 3;
create aggregate "select"."sum up"(int) (sfunc = int4pl, stype = int, initcond = '0');
create role "pgscout test role";
grant usage on schema "select" to "pgscout test role";
grant select on "select"."order" to "pgscout test role" with grant option;
grant update ("a""b") on "select"."order" to "pgscout test role";
set role "pgscout test role";
grant select on "select"."order" to public;
reset role;
