/** The identity of a caller: a user of an issuer. */
import type { Caller } from '../ports/ports.ts';
import { claimsAsJson, type ClaimTypes, firstClaim } from './claims.ts';

/**
 * Returns a text that is equal for all requests of a user, also with new credentials, and different for users of different issuers.
 * Without a user id or name, the claims are the identity.
 */
export function callerIdentity(caller: Caller, types: ClaimTypes): string {
  const user = userText(caller, types);
  return caller.issuer === null ? user : JSON.stringify([...issuerOf(caller), user]);
}

function userText(caller: Caller, types: ClaimTypes): string {
  const id = firstClaim(caller.claims, types.id);
  if (id !== null) return `id ${id}`;
  const name = firstClaim(caller.claims, types.name);
  return name === null ? `claims ${claimsAsJson(caller, types)}` : `name ${name}`;
}

/** An issuer, or a scheme in place of one. */
function issuerOf({ issuer, scheme }: Caller): readonly string[] {
  return typeof issuer === 'string' ? ['issuer', issuer] : ['scheme', scheme];
}

/** Whether the user has an id or a name. */
export function hasUser({ claims }: Caller, types: ClaimTypes): boolean {
  return (firstClaim(claims, types.id) ?? firstClaim(claims, types.name)) !== null;
}
