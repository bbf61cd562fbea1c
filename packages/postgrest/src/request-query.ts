import { parseReadQuery, type ReadQuery } from '@pgway/core/internal';
import { withAliases } from './target-names.ts';
import type { TargetRequest } from './target.ts';

type Options = Parameters<typeof parseReadQuery> extends [unknown, ...infer Rest] ? Rest : never;

/**
 * Parses the query string of a request for what it reads. As in PostgREST, `select=` means all columns.
 * @param options those of `parseReadQuery`
 * @throws ReadFault; Problem `malformed-query`
 */
export function parseRequestQuery({ parameters }: Pick<TargetRequest, 'parameters'>, ...options: Options): ReadQuery {
  const read = withAliases(parseReadQuery(parameters(), ...options));
  return read.items.length === 0 ? { ...read, items: [{ kind: 'all' }] } : read;
}
