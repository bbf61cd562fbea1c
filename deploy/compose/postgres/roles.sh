#!/bin/sh
# Runs once, when the database is created: the role that the gateways log in with, and the schema that they publish.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname="${POSTGRES_DB:-app}" \
  --set=password="$(cat "${AUTHENTICATOR_PASSWORD_FILE:-/run/secrets/authenticator-password}")" <<'SQL'
create role authenticator login noinherit password :'password';
create role app_owner nologin;

revoke all on schema public from public;
create schema app authorization app_owner;
grant usage on schema app to authenticator;

set role app_owner;
create function app.hello(_name text) returns text language sql stable as $$ select 'Hello, ' || _name $$;
revoke execute on function app.hello from public;
grant execute on function app.hello to authenticator;
comment on function app.hello is 'HTTP';
SQL
