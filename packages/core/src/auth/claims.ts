import type { Caller, Claim } from '../ports/ports.ts';

/** The names of the claims that the gateway itself understands. */
export interface ClaimTypes {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

/** The first value of a claim; null when the caller has none. */
export function firstClaim(claims: readonly Claim[], name: string): string | null {
  for (const [own, value] of claims) if (own === name) return value;
  return null;
}

/** All values of the role claim. */
export function callerRoles({ claims }: Caller, { role }: ClaimTypes): readonly string[] {
  return claims.flatMap(([name, value]) => (name === role ? [value] : []));
}

/** All claims as one JSON object: roles and what has several values as arrays, text as strings, JSON as it is. */
export function claimsAsJson({ claims }: Caller, { role }: ClaimTypes): string {
  const members = new Map<string, string[]>();
  for (const [name, value, kind] of claims) {
    const json = kind === 'json' ? value : JSON.stringify(value);
    const known = members.get(name);
    if (known === undefined) members.set(name, [json]);
    else known.push(json);
  }
  const texts = [...members].map(([name, values]) => {
    const one = values.length === 1 && name !== role;
    return `${JSON.stringify(name)}:${one ? values[0] : `[${values.join(',')}]`}`;
  });
  return `{${texts.join(',')}}`;
}
