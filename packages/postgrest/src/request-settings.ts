import type { QueryInput } from '@pgway/core';
import { jwtClaims, quoteIdentifier } from '@pgway/core/internal';
import { parseCookie } from 'cookie';
import type { PostgrestTable } from './dialect-table.ts';
import type { Preferences } from './preferences.ts';

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
 * - `TimeZone`, if the request prefers one
 * - `transaction_read_only`
 */
export function requestSettings(
  { request: { method, path }, context }: Pick<QueryInput, 'request' | 'context'>,
  { schema, options: { path: root, transaction } }: SettingsOwner,
  preferences: Preferences,
  isReadOnly: boolean,
): readonly RequestSetting[] {
  const headers = context.headers();
  const cookie = headers.get('cookie');
  const { extraSearchPath, settings } = transaction;
  const all: RequestSetting[] = [];
  if (extraSearchPath !== null) all.push(['search_path', [quoteIdentifier(schema), ...extraSearchPath].join(', ')]);
  all.push(
    ...settings,
    ['request.jwt.claims', jwtClaims(context.caller, context.role)],
    ['request.headers', toJson(headers)],
    ['request.cookies', cookie === undefined ? '{}' : JSON.stringify(parseCookie(cookie))],
    ['request.method', method],
    ['request.path', path.slice(root.length)],
  );
  const { timezone } = preferences;
  if (timezone !== null) all.push(['TimeZone', timezone]);
  if (isReadOnly) all.push(['transaction_read_only', 'on']);
  return all;
}

function toJson(headers: ReadonlyMap<string, string>): string {
  let json = '';
  for (const [name, value] of headers)
    json += `${json === '' ? '{' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return json === '' ? '{}' : `${json}}`;
}
