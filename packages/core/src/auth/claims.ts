import type { Caller, Claim } from '../ports/ports.ts';

/** The names of the claims that the gateway reads. */
export interface ClaimTypes {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  /** Whether a user name without an issuer, in the scope of an event, may be that of the caller; omitted: always, as there is one issuer. */
  readonly hasDefaultIssuer?: ((caller: Caller) => boolean) | undefined;
}

/** Returns the first value of a claim; null when there is none. */
export function firstClaim(claims: readonly Claim[], name: string): string | null {
  for (const [claim, value] of claims) if (claim === name) return value;
  return null;
}

/** Returns the values of the role claim. */
export function callerRoles({ claims }: Caller, { role }: ClaimTypes): readonly string[] {
  return claims.flatMap(([name, value]) => (name === role ? [value] : []));
}

/** Returns the claims as a JSON object: roles and repeated claims as arrays, text as strings, JSON unchanged. */
export function claimsAsJson({ claims }: Caller, { role }: ClaimTypes): string {
  const members = new Map<string, string[]>();
  for (const [name, value, kind] of claims) {
    const json = kind === 'json' ? value : JSON.stringify(value);
    const values = members.get(name);
    if (values === undefined) members.set(name, [json]);
    else values.push(json);
  }
  const texts = [...members].map(([name, values]) => {
    const isSingle = values.length === 1 && name !== role;
    return `${JSON.stringify(name)}:${isSingle ? values[0] : `[${values.join(',')}]`}`;
  });
  return `{${texts.join(',')}}`;
}
