import { parseQueryString, parseReadQuery, type ReadQuery } from '@pgway/core/internal';

/**
 * Parses the query string of a request for what it reads. As in PostgREST, `select=` means all columns.
 * @param isOther whether a parameter is not part of the read
 * @throws ReadFault
 */
export function parseRequestQuery(query: string, isOther?: (name: string, value: string) => boolean): ReadQuery {
  const read = parseReadQuery(parseQueryString(query), isOther);
  return read.items.length === 0 ? { ...read, items: [{ kind: 'all' }] } : read;
}
