import type { Caller, QueryInput } from '@pgway/core';
import { quoteIdentifier } from '@pgway/core/internal';
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
  const { extraSearchPath, settings } = transaction;
  const searchPath = [quoteIdentifier(schema), ...(extraSearchPath ?? [])].join(', ');
  return [
    ...(extraSearchPath === null ? [] : [['search_path', searchPath] as const]),
    ...settings,
    ['request.jwt.claims', claimsJson(context.caller, context.role)],
    ['request.headers', JSON.stringify(Object.fromEntries(headers))],
    ['request.cookies', JSON.stringify(parseCookie(headers.get('cookie') ?? ''))],
    ['request.method', method],
    ['request.path', path.slice(root.length)],
    ...preferredSettings(preferences),
  ];
}

/** A caller makes many requests: the object is that of its token. */
const claimsOf = new WeakMap<Caller, { readonly role: string | null; readonly json: string }>();

function claimsJson(caller: Caller | null, role: string | null): string {
  if (caller === null) return JSON.stringify(role === null ? {} : { role });
  const known = claimsOf.get(caller);
  if (known?.role === role) return known.json;
  const json = callerClaims(caller, role);
  claimsOf.set(caller, { role, json });
  return json;
}

function callerClaims({ payload, claims }: Caller, role: string | null): string {
  const object = payload === undefined ? claimsObject(claims) : payload.trim();
  const hasRole = role === null || Object.hasOwn(JSON.parse(object) as object, 'role');
  if (hasRole) return object;
  const member = `"role":${JSON.stringify(role)}`;
  const rest = object.slice(1);
  // The text of a token stays as it is: JavaScript would round its large numbers.
  return `{${member}${rest.trimStart().startsWith('}') ? '' : ','}${rest}`;
}

/** Returns the claims of a login as a JSON object. */
function claimsObject(claims: Caller['claims']): string {
  const members = new Map<string, string[]>();
  for (const [name, value, kind] of claims) {
    members.set(name, [...(members.get(name) ?? []), kind === 'json' ? value : JSON.stringify(value)]);
  }
  const texts = [...members].map(([name, values]) => {
    return `${JSON.stringify(name)}:${values.length === 1 ? values[0]! : `[${values.join(',')}]`}`;
  });
  return `{${texts.join(',')}}`;
}
