import type { Caller } from '../ports/ports.ts';

/** A caller makes many requests: the object is that of its token. */
const claimsOf = new WeakMap<Caller, { readonly role: string | null; readonly json: string }>();

/**
 * Returns the value of `request.jwt.claims`, which policies written for PostgREST read: the claims of the token, and the role. Without a
 * caller, the role of anonymous requests alone.
 */
export function jwtClaims(caller: Caller | null, role: string | null): string {
  if (caller === null) return role === null ? '{}' : `{"role":${JSON.stringify(role)}}`;
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
