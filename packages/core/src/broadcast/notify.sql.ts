/** `$1` a channel, `$2` an array of payloads, which arrive in its order. */
export const notifySql =
  'select pg_catalog.pg_notify($1::pg_catalog.text, payload) from pg_catalog.unnest($2::pg_catalog.text[]) as payload';
