import type { QueryInput } from '@pgway/core';
import { jwtClaims, quoteIdentifier } from '@pgway/core/internal';
import { parseCookie } from 'cookie';
import type { PostgrestTable } from './dialect-table.ts';
import { type Preferences, preferredSettings } from './preferences.ts';

/** The table or function of a request. */
interface SettingsOwner {
  readonly schema: string;
  readonly options: Pick<PostgrestTable, 'path' | 'transaction'>;
}

export type RequestSetting = readonly [name: string, value: string];

/**
 * Returns the settings of the transaction that PostgREST has for a request: policies and functions read them with `current_setting`.
 * - `request.jwt.claims`: the claims of the token, and the role; without a token, the role of anonymous requests
 * - `request.headers`: by their names in lower case
 * - `request.cookies`, `request.method`
 * - `request.path`: without the path of the tables, as PostgREST has it at the root
 * - `search_path` and `app.settings.…`, if the options have them
 */
export function requestSettings(
  { request: { method, path }, context }: Pick<QueryInput, 'request' | 'context'>,
  { schema, options: { path: root, transaction } }: SettingsOwner,
  preferences: Preferences,
): readonly RequestSetting[] {
  const headers = context.headers();
  const cookie = headers.get('cookie');
  const { extraSearchPath, settings } = transaction;
  const own: RequestSetting[] = [
    ['request.jwt.claims', jwtClaims(context.caller, context.role)],
    ['request.headers', JSON.stringify(Object.fromEntries(headers))],
    ['request.cookies', cookie === undefined ? '{}' : JSON.stringify(parseCookie(cookie))],
    ['request.method', method],
    ['request.path', path.slice(root.length)],
    ...preferredSettings(preferences),
  ];
  if (extraSearchPath === null && settings.length === 0) return own;
  const searchPath = [quoteIdentifier(schema), ...(extraSearchPath ?? [])].join(', ');
  return [...(extraSearchPath === null ? [] : [['search_path', searchPath] as const]), ...settings, ...own];
}
