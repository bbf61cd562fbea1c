import { orders, swappedSql } from './column-swap.sql.ts';
import { leftoverSql, sessionStateSql } from './leftovers.ts';
import type { Roles } from './users.ts';

/** Text that makes the rows of `rows` long, for large responses. */
export const padding: string = 'pad '.repeat(25);

/** The SQLSTATE of the only expected failure with status 500. */
export const raisedState = 'SK500';

const reads = `
create function login(_user_id text, _role text) returns table (id text, name text, roles text[], db_role text)
language sql stable as $$ select _user_id, 'name of ' || _user_id, array['member'], _role $$;
comment on function login is 'HTTP POST
login';

create function echo(_token text) returns json language sql stable as $$
  select json_build_object('token', _token, 'role', current_user, 'user', nullif(current_setting('request.user_id', true), '')) $$;
comment on function echo is 'HTTP GET
user_context';
create function echo_slowly(_token text, _seconds float8) returns json language plpgsql stable as $$ begin
  perform pg_sleep(_seconds);
  return json_build_object('token', _token, 'role', current_user, 'user', nullif(current_setting('request.user_id', true), '')); end $$;
comment on function echo_slowly is 'HTTP GET
user_context';
create function echo_parameters(_token text, _user_id text, _user_name text) returns table (token text, "user" text, name text, role name)
language sql volatile as $$ select _token, _user_id, _user_name, current_user $$;
comment on function echo_parameters is 'HTTP POST
user_parameters';
create function echo_body(_text text, _token text) returns text language sql volatile as $$ select _token || ':' || _text $$;
comment on function echo_body is 'HTTP POST
body_parameter_name _text';
create function echo_bytes(_token text, _times int) returns bytea language sql immutable as
$$ select decode(repeat(_token, _times), 'hex') $$;
comment on function echo_bytes is 'HTTP GET';
create function rows_of_bytes(_token text) returns table (token text, bytes bytea, number float8) language sql stable as
$$ select _token, convert_to(_token || E'\\\\', 'UTF8'), 0.1 + 0.2::float8 $$;
comment on function rows_of_bytes is 'HTTP GET';
create function rows(_token text, _count int) returns table (n int, token text, role name, padding text) language sql stable as
$$ select n, _token, current_user, '${padding}' from generate_series(1, _count) n $$;
comment on function rows is 'HTTP GET';
create function large_value(_token text, _times int) returns text language sql stable as $$ select repeat(_token, _times) $$;
comment on function large_value is 'HTTP GET';
create function progress(_token text, _count int) returns text language plpgsql volatile as $$ begin
  for i in 1.._count loop raise info '% % of %', _token, i, _count; end loop;
  return _token; end $$;
comment on function progress is 'HTTP POST
info_path';
`;

const writes = `
create table entry (id bigint not null, token text not null,
  owner text default nullif(current_setting('request.user_id', true), ''), role name not null default current_user);
comment on table entry is 'HTTP
for insert
user_context';
create table child (parent bigint references parent (id) deferrable initially deferred);
create table taken (id int primary key);
insert into taken values (1);
create function add_entry(_id bigint, _token text) returns json language sql volatile as $$
  insert into entry (id, token) values (_id, _token)
  returning json_build_object('id', id, 'token', token, 'role', role, 'user', owner) $$;
comment on function add_entry is 'HTTP POST
user_context';
create function add_entry_slowly(_id bigint, _token text, _seconds float8) returns text language plpgsql volatile as $$ begin
  insert into entry (id, token) values (_id, _token);
  perform pg_sleep(_seconds);
  return _token; end $$;
comment on function add_entry_slowly is 'HTTP POST
user_context';
create procedure add_entry_by_procedure(_id bigint, _token text, inout _added text) language plpgsql as $$ begin
  insert into entry (id, token) values (_id, _token);
  _added := _token; end $$;
comment on procedure add_entry_by_procedure is 'HTTP POST
user_context';
create function add_entry_and_fail(_id bigint, _token text, _state text) returns text language plpgsql volatile as $$ begin
  insert into entry (id, token) values (_id, _token);
  raise exception '%', _token using errcode = _state; end $$;
comment on function add_entry_and_fail is 'HTTP POST';
create function add_entry_and_fail_at_commit(_id bigint, _token text) returns text language sql volatile as $$
  insert into entry (id, token) values (_id, _token);
  insert into child values (-1);
  select _token $$;
comment on function add_entry_and_fail_at_commit is 'HTTP POST';
create function add_entry_and_time_out(_id bigint, _token text) returns text language plpgsql volatile as $$ begin
  insert into entry (id, token) values (_id, _token);
  perform pg_sleep(60);
  return _token; end $$;
comment on function add_entry_and_time_out is 'HTTP POST
command_timeout = 100ms';
create function add_taken(_id bigint, _token text) returns text language sql volatile as $$
  insert into entry (id, token) values (_id, _token);
  insert into taken values (1);
  select _token $$;
comment on function add_taken is 'HTTP POST';
create function wait_for_lock(_key bigint) returns text language plpgsql volatile as $$ begin
  perform pg_advisory_xact_lock(_key);
  return 'done'; end $$;
comment on function wait_for_lock is 'HTTP POST';
create function divide(_a int, _b int) returns int language sql immutable as $$ select _a / _b $$;
comment on function divide is 'HTTP GET';

create table counter (key text primary key, n bigint not null);
create function bump(_key text) returns bigint language sql volatile as $$
  insert into counter values (_key, 1) on conflict (key) do update set n = counter.n + 1 returning n $$;
comment on function bump is 'HTTP POST
invalidates read_counter';
create function read_counter(_key text) returns bigint language sql stable as
$$ select coalesce((select n from counter where key = _key), 0) $$;
comment on function read_counter is 'HTTP GET
cached';
create function cached_echo(_token text) returns json language sql stable as $$
  select json_build_object('token', _token, 'role', current_user, 'user', nullif(current_setting('request.user_id', true), '')) $$;
comment on function cached_echo is 'HTTP GET
cached
cache_expires_in 5s
user_context';
`;

/** Objects with privileges for some roles: schema USAGE, EXECUTE on an inlined and on a constant function, row level security. */
function privileges(roles: Roles): string {
  return `
create schema vault;
create function vault.open(_token text) returns text language sql stable as $$ select 'vault ' || _token $$;
comment on function vault.open is 'HTTP GET';
create function for_admins(_token text) returns text language sql stable as $$ select 'admin ' || _token $$;
comment on function for_admins is 'HTTP GET';
create function secret_word() returns text language sql immutable as $$ select ' secret' $$;
create function for_admins_constant(_token text) returns text language sql stable as $$ select _token || secret_word() $$;
comment on function for_admins_constant is 'HTTP GET';
revoke execute on function for_admins, secret_word from public;
grant execute on function for_admins, secret_word to ${roles.admin};
grant usage on schema vault to ${roles.admin}, ${roles.gateway};

create table item (id bigint primary key, value text,
  owner text not null default nullif(current_setting('request.user_id', true), ''));
alter table item enable row level security;
create policy own on item using (owner = current_setting('request.user_id', true));
comment on table item is 'HTTP
user_context';
create table note (id int primary key, reader name not null);
insert into note values (1, '${roles.reader}'), (2, '${roles.writer}'), (3, '${roles.admin}'), (4, '${roles.admin}');
alter table note enable row level security;
create policy own on note using (reader = current_user);
comment on table note is 'HTTP
for update, delete, insert
disabled';
grant select on note to ${roles.reader}, ${roles.writer}, ${roles.admin};
grant select, insert, update, delete on item to ${roles.writer}, ${roles.admin};
grant insert, select on entry to ${everyRole(roles)};
grant insert on child, taken to ${everyRole(roles)};
grant insert, select, update on counter to ${everyRole(roles)};
grant select on parent, taken to ${everyRole(roles)};
`;
}

function everyRole({ reader, writer, admin, anonymous }: Roles): string {
  return [reader, writer, admin, anonymous].join(', ');
}

export function soakSchemaSql(roles: Roles): string {
  return [
    'create table parent (id bigint primary key);',
    reads,
    writes,
    privileges(roles),
    sessionStateSql,
    leftoverSql(roles.admin),
    swappedSql(orders[0]),
  ].join('\n');
}
