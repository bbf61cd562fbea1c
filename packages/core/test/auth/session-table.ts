/** A table of sessions, as a host would create it. */
export const sessionTable = `
  create table gateway_sessions (
    id text primary key,
    user_id text,
    user_name text,
    scheme text not null,
    ip text,
    user_agent text,
    expires timestamptz not null,
    ended timestamptz,
    refreshes int not null default 0
  )`;

export const sessionCommands = {
  begin: `insert into gateway_sessions (id, user_id, user_name, scheme, ip, user_agent, expires) values ($1, $2, $3, $4, $5, $6, $7)`,
  check: `select true from gateway_sessions where id = $1 and ended is null`,
  end: `update gateway_sessions set ended = now() where id = $1 and ended is null`,
  refresh: `update gateway_sessions set refreshes = refreshes + 1
    where id = $1 and refreshes = $2::int and ended is null returning true`,
} as const;
