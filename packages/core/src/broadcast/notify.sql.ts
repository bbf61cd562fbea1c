/** `$1` is a channel, `$2` an array of payloads, which are sent in the order of the array. */
export const notifySql =
  'select pg_catalog.pg_notify($1::pg_catalog.text, payload) from pg_catalog.unnest($2::pg_catalog.text[]) as payload';
