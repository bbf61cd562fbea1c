begin;
set local role expenses_owner;

-- `subject` never changes; an email address may be given to another person later.
create table app.account (
  provider  text,
  subject   text,
  person_id int not null references app.person,
  primary key (provider, subject)
);
create index on app.account (person_id);

create function app.external_sign_in(_provider text, _verified_email text, _subject text)
returns table (status int, message text, id int, name text, company text, roles text[], database_role text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  _person int := (select person_id from app.account where provider = _provider and subject = _subject);
begin
  if _person is null then
    -- The first sign-in with the invited address accepts the invitation.
    update app.person p set invitation = null
    where lower(p.email) = lower(_verified_email) and p.invitation is not null and p.invited_until > now()
    returning p.id into _person;
    if _person is null then
      return query select 403, 'Ask for an invitation to your email address.', null::int, null, null, null::text[], null;
      return;
    end if;
    insert into app.account values (_provider, _subject, _person);
  end if;
  return query
    select 200, null, p.id, p.name, p.company, array[p.role], 'expenses_' || p.role from app.person p where p.id = _person;
end $$;
grant execute on function app.external_sign_in to expenses_gateway;

commit;
