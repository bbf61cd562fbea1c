/** The table and the routines of the audit. The table has no unique key, so that a write that ran twice has two rows. */
export const auditSchemaSql = (gateway: string): string => `
create schema audit;
create table audit.stored (id text not null);
comment on table audit.stored is 'HTTP /stored';

create function audit.refuse_at_commit() returns trigger language plpgsql as $$
begin
  raise exception 'refused at the commit';
end $$;
create constraint trigger refuse_at_commit after insert on audit.stored deferrable initially deferred
  for each row when (new.id like 'late%') execute function audit.refuse_at_commit();

create function audit.add(_id text) returns text language sql as
$$ insert into audit.stored (id) values (_id) returning id $$;
comment on function audit.add is 'HTTP POST /add';

create function audit.add_slowly(_id text) returns text language plpgsql as $$
begin
  insert into audit.stored (id) values (_id);
  perform pg_sleep(0.02);
  return _id;
end $$;
comment on function audit.add_slowly is 'HTTP POST /add-slowly';

create function audit.add_once(_id text) returns text language sql as
$$ insert into audit.stored (id) values (_id) returning id $$;
comment on function audit.add_once is 'HTTP POST /add-once
idempotent required';

create function audit.refuse(_id text) returns text language plpgsql as $$
begin
  insert into audit.stored (id) values (_id);
  raise exception 'refused';
end $$;
comment on function audit.refuse is 'HTTP POST /refuse';

grant usage on schema audit to ${gateway};
grant select, insert on audit.stored to ${gateway};`;
