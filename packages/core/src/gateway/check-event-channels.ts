import { queryCatalog } from '../catalog/query-catalog.ts';
import { inUserSchema } from '../catalog/user-schema.sql.ts';
import { type Diagnostic, display } from '../endpoints/diagnostic.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Database } from '../postgres/port.ts';
import { nearestName } from '../validation/suggestion.ts';

/** The text of routines with a constant channel: `pg_notify('orders', …)`, `notify orders`. */
const channelsSql = `
  select distinct coalesce(m[1], m[2], lower(m[3]))
  from pg_proc p, regexp_matches(p.prosrc, $$pg_notify\\s*\\(\\s*'([^']+)'|\\mnotify\\s+(?:"([^"]+)"|([[:alpha:]_][\\w$]*))$$, 'gi') m
  where p.prosrc ilike '%notify%' and ${inUserSchema('p.pronamespace')}`;

/**
 * Returns a warning for each endpoint that listens to a channel which no routine notifies, if one notifies a channel of nearly this name.
 * Programs can notify others, which the catalog does not have.
 */
export async function checkEventChannels(
  database: Database,
  endpoints: readonly Endpoint[],
): Promise<readonly Diagnostic[]> {
  const listening = endpoints.filter(({ events }) => (events?.channel ?? null) !== null);
  if (listening.length === 0) return [];
  const notified = (await queryCatalog(database, channelsSql, [])).map(([channel]) => channel!);
  return listening.flatMap(({ id, events }) => {
    const { name } = events!.channel!;
    const suggestion = notified.includes(name) ? null : nearestName(name, notified);
    if (suggestion === null) return [];
    const message = `listen: no routine of the database notifies the channel ${display(name)}; did you mean ${display(suggestion)}?`;
    return [{ severity: 'warning', code: 'unknown-channel', routine: id, line: null, message }];
  });
}
