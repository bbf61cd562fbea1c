/** The routines that the soak of the server calls. */
export const serverSoakSql: string = `
create table item (id int primary key, name text not null, note text, created timestamptz not null default now());
insert into item select n, 'Item ' || n, repeat('She said "yes" to Zoë. ', 4) from generate_series(1, 500) n;
create table entry (id bigint generated always as identity, line text);

create function add(_a int, _b int) returns int language sql immutable as $$ select _a + _b $$;
comment on function add is 'HTTP GET';

create function items(_limit int) returns setof item language sql stable as $$ select * from item order by id limit _limit $$;
comment on function items is 'HTTP GET';

create function cached_items(_limit int) returns setof item language sql stable as $$ select * from item order by id limit _limit $$;
comment on function cached_items is 'HTTP GET
cached _limit';

create function echo(_text text) returns text language sql immutable as $$ select _text $$;
comment on function echo is 'HTTP POST';

create function failing(_code text) returns void language plpgsql as $$ begin raise exception 'refused' using errcode = _code; end $$;
comment on function failing is 'HTTP POST';

create function limited() returns int language sql as $$ select 1 $$;
comment on function limited is 'HTTP GET
rate_limit few';

create function sign_in(_name text) returns table (id text, name text, roles text[]) language sql
  as $$ select md5(_name), _name, array['reader'] $$;
comment on function sign_in is 'HTTP POST
login';

create function me(_user_name text default null) returns text language sql stable as $$ select _user_name $$;
comment on function me is 'HTTP GET
authorize reader
user_parameters';

create function sign_out() returns void language sql as $$ select $$;
comment on function sign_out is 'HTTP POST
logout';

create function announce(_text text) returns void language plpgsql as $$ begin raise info '%', _text; end $$;
comment on function announce is 'HTTP POST
info_path';

create function keep_file(_files json default null) returns json language sql as $$ select _files $$;
comment on function keep_file is 'HTTP POST
upload for file_system, _files as metadata';

create function import_lines(_files json default null) returns json language sql as $$ select _files $$;
comment on function import_lines is 'HTTP POST
upload for csv, _files as metadata
row_command = insert into entry (line) values (($2)[1])';
`;
