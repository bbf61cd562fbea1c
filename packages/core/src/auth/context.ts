import { minimalArrayLiteral } from '../postgres/literal.ts';
import { Problem } from '../http/problem.ts';
import type { Caller } from '../ports/ports.ts';
import type { Setting } from './settings.ts';
import type { CallContext } from './injected-values.ts';
import { firstClaim, type ClaimTypes, claimsAsJson, callerRoles } from './claims.ts';

/** The settings that tell a call of its caller. */
export interface ContextKeys {
  readonly id: string;
  readonly name: string;
  readonly roles: string;
  readonly ipAddress: string;
  /** Null: claims are not told. */
  readonly claims: string | null;
}

/**
 * Who the caller is, as settings of the transaction. Empty for what is not known: PostgreSQL has no NULL for a setting once it has
 * been made, and what an earlier call left must not shine through.
 */
export function contextSettings(
  { request, caller }: CallContext,
  { id, name, roles, ipAddress, claims }: ContextKeys,
  types: ClaimTypes,
): readonly Setting[] {
  return [
    [id, (caller && firstClaim(caller.claims, types.id)) ?? ''],
    [name, (caller && firstClaim(caller.claims, types.name)) ?? ''],
    [roles, caller === null ? '' : minimalArrayLiteral(callerRoles(caller, types))],
    [ipAddress, request.remoteAddress ?? ''],
    ...(claims === null ? [] : [[claims, caller === null ? '' : claimsAsJson(caller, types)] as const]),
  ];
}

/** The database role that a call runs under, by a claim of its caller. */
export interface DatabaseRole {
  readonly claim: string;
  /** For callers without that claim, and for those that nobody knows; null: the role of the connection. */
  readonly anonymous: string | null;
}

/**
 * The role of a caller; null: that of the connection.
 * @throws Problem 403 for `none`, which is no role, but would be that of the connection
 */
export function selectRole(caller: Caller | null, { claim, anonymous }: DatabaseRole): string | null {
  const role = (caller && firstClaim(caller.claims, claim)) ?? anonymous;
  if (role === 'none') throw new Problem('forbidden');
  return role;
}

/**
 * As a setting of the transaction: PostgreSQL refuses a role that the connection's own is no member of.
 * @throws Problem 403 for `none`
 */
export function roleSettings({ caller }: CallContext, context: DatabaseRole): readonly Setting[] {
  const role = selectRole(caller, context);
  return role === null ? [] : [['role', role]];
}
