-- Owns tables and routines; the server cannot become it.
create role expenses_owner nologin;

-- The callers: before they have signed in, members, and approvers, who are members too.
create role expenses_anonymous nologin;
create role expenses_member nologin;
create role expenses_approver nologin;
grant expenses_member to expenses_approver;

-- The server: without the role of a caller, SQL may read and write its sessions and keys only.
create role expenses_gateway login noinherit connection limit 30;
grant expenses_anonymous, expenses_member, expenses_approver to expenses_gateway;
alter role expenses_gateway set statement_timeout = '15s';

-- Reads the log, which has the changes of all tables: no statement of a caller runs under this role.
create role expenses_changes login replication;

create schema app authorization expenses_owner;
create schema api authorization expenses_owner;
revoke all on schema public from public;
grant usage on schema app to expenses_member, expenses_gateway;
grant usage on schema api to expenses_anonymous, expenses_member;
alter default privileges for role expenses_owner revoke execute on functions from public;
