import type { Caller, Claim } from '../ports.ts';

/** The names of the claims that the gateway itself understands. */
export interface ClaimTypes {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

/** The first value of a claim; null when the caller has none. */
export function claimOf(claims: readonly Claim[], name: string): string | null {
  for (const [own, value] of claims) if (own === name) return value;
  return null;
}

/** All values of the role claim. */
export function rolesOf({ claims }: Caller, { role }: ClaimTypes): readonly string[] {
  return claims.flatMap(([name, value]) => (name === role ? [value] : []));
}

/** All claims as one JSON object: roles and whatever has several values as arrays, all else as strings. */
export function claimsAsJson({ claims }: Caller, { role }: ClaimTypes): string {
  const members = new Map<string, string[]>();
  for (const [name, value] of claims) {
    const known = members.get(name);
    if (known === undefined) members.set(name, [value]);
    else known.push(value);
  }
  const texts = [...members].map(([name, values]) => {
    const one = values.length === 1 && name !== role;
    return `${JSON.stringify(name)}:${JSON.stringify(one ? values[0] : values)}`;
  });
  return `{${texts.join(',')}}`;
}
