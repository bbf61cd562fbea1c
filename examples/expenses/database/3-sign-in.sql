begin;
set local role expenses_owner;

-- Sessions and encryption keys, which the server itself reads and writes.
create table app.session (
  id text primary key, user_id text not null, expires timestamptz not null, ended timestamptz
);
create table app.gateway_key (id text primary key, text text not null);
grant select, insert, update on app.session to expenses_gateway;
grant select, insert on app.gateway_key to expenses_gateway;

-- Another company, role or password, and the deletion of a person, end its sessions: their cookies have the old claims.
create function app.end_sessions() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update app.session set ended = now() where user_id = old.id::text and ended is null;
  return null;
end $$;
create trigger end_sessions after update of company, role, hash or delete on app.person
for each row execute function app.end_sessions();

-- The server ends the streams of a session, too, and does not wait for its next check.
create function app.announce_end() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('expenses_session_ended', new.id);
  return null;
end $$;
create trigger announce_end after update of ended on app.session
for each row when (new.ended is not null) execute function app.announce_end();

create function app.invite(_company text, _name text, _email text, _role text default 'member') returns text
language plpgsql as $$
declare
  code text := replace(gen_random_uuid()::text, '-', '');
begin
  insert into app.person (company, name, email, role, invitation, invited_until)
  values (_company, _name, _email, _role, sha256(convert_to(code, 'UTF8')), now() + interval '7 days');
  return code;
end $$;

create function api.accept_invitation(_invitation text, _password text, _hash text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if length(_password) < 12 then
    raise exception 'The password needs at least 12 characters.';
  end if;
  update app.person set hash = _hash, invitation = null
  where invitation = sha256(convert_to(_invitation, 'UTF8')) and invited_until > now();
  if not found then
    raise exception 'The invitation is unknown, used or older than 7 days.';
  end if;
end $$;
comment on function api.accept_invitation is 'HTTP POST /api/invitation
allow_anonymous
param _hash is hash of _password';

create function api.sign_in(_email text, _password text)
returns table (id int, name text, company text, roles text[], database_role text, hash text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select id, name, company, array[role], 'expenses_' || role, hash from app.person where lower(email) = lower(_email)
$$;
comment on function api.sign_in is 'HTTP POST /api/sign-in
login';

create function api.sign_out() returns void language sql as '';
comment on function api.sign_out is 'HTTP POST /api/sign-out
logout';

create function api.me(
  _claims json default null, out id int, out name text, out company text, out roles text[]
) language sql stable as $$
  select * from json_to_record(_claims) as claim (id int, name text, company text, roles text[])
$$;
comment on function api.me is 'The caller; null before the sign-in.
HTTP GET /api/me
allow_anonymous
param _claims is user_claims';

grant execute on function api.accept_invitation, api.sign_in, api.me to expenses_anonymous, expenses_member;
grant execute on function api.sign_out to expenses_member;

commit;
