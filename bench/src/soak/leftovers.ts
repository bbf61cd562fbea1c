import type { DatabaseRoute } from './options.ts';

/**
 * Changes of session state that outlive a call. Each entry is the body of a function `leave_<name>(_token text)`. The function
 * `session_state` returns the state that the next caller would see.
 */
const leftovers: Readonly<Record<string, string>> = {
  setting: `perform set_config('soak.left', _token, false)`,
  identity: `perform set_config('request.user_id', 'forged', false)`,
  search_path: `perform set_config('search_path', 'vault, public', false)`,
  role: `set role {admin}`,
  statement_timeout: `set statement_timeout = '19s'`,
  read_only: `set default_transaction_read_only = on`,
  bytea_output: `set bytea_output = 'escape'`,
  extra_float_digits: `set extra_float_digits = -10`,
  date_style: `set datestyle = 'German'`,
  time_zone: `set timezone = 'Asia/Tokyo'`,
  row_security: `set row_security = off`,
  advisory_lock: `perform pg_advisory_lock(hashtext(_token))`,
  listen: `listen soak_left`,
  temporary_table: `create temporary table if not exists soak_left (token text)`,
  cursor: `execute 'declare soak_left cursor with hold for select 1'`,
  prepared_statement: `execute 'prepare soak_left as select 1'`,
};

/**
 * Returns the changes that the gateway can undo on this route. Behind a pooler it deallocates no prepared statements, because some
 * belong to the pooler.
 */
export function leftoverNames(route: DatabaseRoute): readonly string[] {
  const names = Object.keys(leftovers);
  return route === 'direct' ? names : names.filter((name) => name !== 'prepared_statement');
}

export function leftoverSql(adminRole: string): string {
  return Object.entries(leftovers)
    .map(
      ([name, body]) => `
create function leave_${name}(_token text) returns text language plpgsql volatile as $$
begin
  ${body.replace('{admin}', adminRole)};
  return _token;
end $$;
comment on function leave_${name} is 'HTTP POST';`,
    )
    .join('\n');
}

/** The session state that a call can see. It must be equal for every call, after any other call. */
export const sessionStateSql = `
create function session_state(_token text) returns json language sql volatile as $$
  select json_build_object(
    'token', _token,
    'setting', nullif(current_setting('soak.left', true), ''),
    'user', nullif(current_setting('request.user_id', true), ''),
    'searchPath', current_setting('search_path'),
    'statementTimeout', current_setting('statement_timeout'),
    'readOnly', current_setting('default_transaction_read_only'),
    'byteaOutput', current_setting('bytea_output'),
    'floatDigits', current_setting('extra_float_digits'),
    'dateStyle', current_setting('datestyle'),
    'timeZone', current_setting('timezone'),
    'rowSecurity', current_setting('row_security'),
    'locks', (select count(*) from pg_catalog.pg_locks where pid = pg_backend_pid() and locktype = 'advisory'),
    'listens', (select count(*) from pg_catalog.pg_listening_channels()),
    'temporaryTable', to_regclass('pg_temp.soak_left'),
    'cursors', (select count(*) from pg_catalog.pg_cursors where is_holdable),
    'prepared', (select count(*) from pg_catalog.pg_prepared_statements where name = 'soak_left')) $$;
comment on function session_state is 'HTTP POST';
`;
